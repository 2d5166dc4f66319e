//! A line chart: values over a number, or over the share of calls for percentiles.

use std::fmt::Write;

use super::scale::{Axis, Placed};
use super::series::{Series, Value, legend_lines, level_axis};
use crate::report::html::escaped;

/// Units: pixels, as are all below.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 22.0;
/// The label of the upright axis.
const HEAD: f64 = 22.0;
const HEIGHT: f64 = 300.0;
/// Ticks and label of the level axis.
const FOOT: f64 = 36.0;

/// Lines with marks.
pub struct LineChart {
    pub title: String,
    /// For readers who do not see the chart.
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
}

/// A line.
pub struct Line {
    pub series: Series,
    /// Shape: ascending by x.
    pub points: Vec<(f64, Value)>,
}

impl LineChart {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let series: Vec<Series> = self.lines.iter().map(|line| line.series.clone()).collect();
        let (title, title_height) = super::heading(&self.title, WIDTH);
        let (legend, legend_height) = legend_lines(&series, WIDTH);
        let top = title_height + legend_height + HEAD;
        let bottom = top + HEIGHT;
        let x = self.x.place(points().map(|(x, _)| *x), [LEFT, WIDTH - RIGHT]);
        let y = self.y.place(points().flat_map(|(_, y)| y.all()), [bottom, top]);
        let mut svg = title + &super::lowered(&legend, title_height) + &self.axes(&x, &y, [top, bottom]);
        // Order: the first line is above the others.
        for line in self.lines.iter().rev() {
            svg += &self.line(line, &x, &y);
        }
        super::element(WIDTH, bottom + FOOT, &self.title, &self.description, &svg)
    }

    fn axes(&self, x: &Placed, y: &Placed, [top, bottom]: [f64; 2]) -> String {
        let mut svg = String::from("<g class=\"axis\">\n");
        svg += &level_axis(x, &self.x.label, [top, bottom], [LEFT, WIDTH - RIGHT, WIDTH]);
        for tick in y.ticks() {
            let (at, label) = (tick.at, escaped(&tick.label));
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0
            );
        }
        let label = escaped(&self.y.label);
        let _ = writeln!(svg, "<text x=\"2\" y=\"{:.1}\">{label}</text>\n</g>", top - 9.0);
        svg
    }

    fn line(&self, line: &Line, x: &Placed, y: &Placed) -> String {
        let has_place =
            |(at, value): &&(f64, Value)| self.x.scale.has(*at) && value.all().all(|at| self.y.scale.has(at));
        let points: Vec<&(f64, Value)> = line.points.iter().filter(has_place).collect();
        let places = points.iter().map(|(at, value)| format!("{:.1} {:.1}", x.at(*at), y.at(value.at)));
        let path = places.collect::<Vec<_>>().join("L");
        let mut svg = format!("<g class=\"{}\">\n", line.series.class());
        if !path.is_empty() {
            let _ = writeln!(svg, "<path class=\"line\" d=\"M{path}\"/>");
        }
        for (at, value) in points {
            let (middle, (height, ends)) = (x.at(*at), value.place(y));
            let whisker = ends.map_or(String::new(), |[low, high]| {
                format!("<path class=\"whisker\" d=\"M{middle:.1} {low:.1}V{high:.1}\"/>")
            });
            let _ = writeln!(
                svg,
                "<g><title>{}, {}: {}</title>{whisker}{}</g>",
                escaped(&line.series.name),
                super::scale::number(*at),
                value.text(),
                line.series.mark(middle, height)
            );
        }
        svg + "</g>\n"
    }
}
