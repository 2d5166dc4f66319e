//! A point plot: one line of marks for each row and series, each with its interval.

use std::fmt::Write;

use super::scale::Axis;
use super::series::{Series, Value, legend_lines, level_axis};
use crate::report::html::escaped;

/// Units: pixels, as are all below.
const WIDTH: f64 = 420.0;
const LEFT: f64 = 14.0;
const RIGHT: f64 = 22.0;
/// The label of a row.
const LABEL: f64 = 16.0;
/// One series of a row.
const LANE: f64 = 9.0;
/// Below a row.
const GAP: f64 = 8.0;
/// Ticks and label of the axis.
const FOOT: f64 = 34.0;
/// Most letters of a label that the width has room for.
const LABEL_LETTERS_MAX: usize = 58;

/// Medians with their intervals, by row and by series.
pub struct PointPlot {
    pub title: String,
    /// For readers who do not see the plot.
    pub description: String,
    pub axis: Axis,
    pub series: Vec<Series>,
    pub rows: Vec<PointRow>,
}

/// A row.
pub struct PointRow {
    pub label: String,
    /// Shape: one for each series, `None` if it has no value.
    pub values: Vec<Option<Value>>,
}

impl PointPlot {
    /// The plot as SVG.
    pub fn svg(&self) -> String {
        let values = self.rows.iter().flat_map(|row| row.values.iter().flatten().flat_map(Value::all));
        let axis = self.axis.place(values, [LEFT, WIDTH - RIGHT]);
        let (title, title_height) = super::heading(&self.title, WIDTH);
        let (legend, legend_height) = legend_lines(&self.series, WIDTH);
        let top = title_height + legend_height;
        let row_height = LABEL + LANE * self.series.len() as f64 + GAP;
        let bottom = top + row_height * self.rows.len() as f64;
        let mut svg = title + &super::lowered(&legend, title_height);
        let level = level_axis(&axis, &self.axis.label, [top, bottom], [LEFT, WIDTH - RIGHT, WIDTH]);
        svg += &format!("<g class=\"axis\">\n{level}</g>\n");
        for (place, row) in self.rows.iter().enumerate() {
            let y = top + row_height * place as f64;
            let label = escaped(&row.label);
            let shown = escaped(&fitted(&row.label));
            let _ = writeln!(svg, "<text class=\"row\" x=\"2\" y=\"{:.1}\">{shown}</text>", y + 11.0);
            for (lane, (series, value)) in self.series.iter().zip(&row.values).enumerate() {
                let Some(value) = value.filter(|value| value.all().all(|at| self.axis.scale.has(at))) else {
                    continue;
                };
                let y = y + LABEL + LANE * (lane as f64 + 0.5);
                let (x, ends) = value.place(&axis);
                let whisker = ends.map_or(String::new(), |[low, high]| {
                    format!("<path class=\"whisker\" d=\"M{low:.1} {y:.1}H{high:.1}\"/>")
                });
                let _ = writeln!(
                    svg,
                    "<g class=\"{}\"><title>{label}, {}: {}</title>{whisker}{}</g>",
                    series.class(),
                    escaped(&series.name),
                    value.text(),
                    series.mark(x, y)
                );
            }
        }
        super::element(WIDTH, bottom + FOOT, &self.title, &self.description, &svg)
    }
}

/// A label, cut off where it is longer than the plot is wide.
fn fitted(label: &str) -> String {
    if label.chars().count() <= LABEL_LETTERS_MAX {
        return label.to_owned();
    }
    let kept: String = label.chars().take(LABEL_LETTERS_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}
