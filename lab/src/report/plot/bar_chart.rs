//! A bar chart: a bar from zero for each system, with its name before it and its figure behind it.

use std::fmt::Write;

use super::scale::Axis;
use super::series::{LETTER, Series, Value, level_axis};
use crate::report::html::escaped;

/// Units: pixels, as are all below.
const WIDTH: f64 = 640.0;
/// Room for the figure behind the longest bar.
const RIGHT: f64 = 92.0;
/// The label of a row.
const LABEL: f64 = 18.0;
const BAR: f64 = 12.0;
/// A bar and the room below it.
const LANE: f64 = 16.0;
/// Below a row.
const GAP: f64 = 8.0;
/// Ticks and label of the axis.
const FOOT: f64 = 36.0;
/// How much wider a letter is in bold.
const BOLD: f64 = 1.12;
/// A longer name of a system is cut off. Units: letters.
const NAME_LETTERS_MAX: usize = 46;
/// A longer label of a row is cut off. Units: letters.
const LABEL_LETTERS_MAX: usize = 90;

/// Figures by row and by system.
pub struct BarChart {
    pub title: String,
    /// For readers who do not see the chart.
    pub description: String,
    /// Its scale is linear.
    pub axis: Axis,
    pub series: Vec<Series>,
    pub rows: Vec<BarRow>,
}

/// A row.
pub struct BarRow {
    /// Nothing is shown if empty.
    pub label: String,
    /// Shape: one for each series: its figure, with its text; `None` if it has none.
    pub values: Vec<Option<(Value, String)>>,
}

impl BarChart {
    /// The chart as SVG. Series without a figure in a row have no bar there.
    pub fn svg(&self) -> String {
        let values = self.rows.iter().flat_map(|row| row.values.iter().flatten());
        let left = self.series.iter().map(name_width).fold(0.0, f64::max) + 12.0;
        let axis = self.axis.place(values.flat_map(|(value, _)| value.all()), [left, WIDTH - RIGHT]);
        let (title, top) = super::heading(&self.title, WIDTH);
        let bottom = top + self.rows.iter().map(BarRow::height).sum::<f64>();
        let level = level_axis(&axis, &self.axis.label, [top, bottom], [left, WIDTH - RIGHT, WIDTH]);
        let mut svg = format!("{title}<g class=\"axis\">\n{level}</g>\n");
        let mut y = top;
        for row in &self.rows {
            svg += &self.row(row, y, |at| axis.at(at));
            y += row.height();
        }
        super::element(WIDTH, bottom + FOOT, &self.title, &self.description, &svg)
    }

    fn row(&self, row: &BarRow, top: f64, at: impl Fn(f64) -> f64) -> String {
        let mut svg = String::new();
        let mut y = top + 2.0;
        if !row.label.is_empty() {
            let label = escaped(&cut(&row.label, LABEL_LETTERS_MAX));
            let _ = writeln!(svg, "<text class=\"row\" x=\"2\" y=\"{:.1}\">{label}</text>", y + 12.0);
            y += LABEL;
        }
        for (series, value) in self.series.iter().zip(&row.values) {
            let Some((value, text)) = value else { continue };
            if !value.all().all(f64::is_finite) {
                continue;
            }
            let (zero, end, middle) = (at(0.0), at(value.at), y + BAR / 2.0);
            let ends = value.interval.filter(|[low, high]| low < high).map_or(String::new(), |ends| {
                let [low, high] = ends.map(&at);
                format!("<path class=\"ends\" d=\"M{low:.1} {middle:.1}H{high:.1}\"/>")
            });
            let behind = value.all().map(&at).fold(end, f64::max) + 5.0;
            let _ = writeln!(
                svg,
                "<g class=\"{}\"><title>{}: {}</title><text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <rect class=\"bar\" x=\"{zero:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\"/>{ends}\
                 <text class=\"value\" x=\"{behind:.1}\" y=\"{:.1}\">{}</text></g>",
                series.class(),
                escaped(&series.name),
                escaped(text),
                zero - 6.0,
                middle + 4.0,
                escaped(&cut(&series.name, NAME_LETTERS_MAX)),
                (end - zero).max(0.5),
                middle + 4.0,
                escaped(text)
            );
            y += LANE;
        }
        svg
    }
}

/// The room for the name of a system.
fn name_width(series: &Series) -> f64 {
    let letters = series.name.chars().count().min(NAME_LETTERS_MAX) as f64;
    LETTER * if series.is_bold { BOLD } else { 1.0 } * letters
}

impl BarRow {
    fn height(&self) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { LABEL };
        label + LANE * self.values.iter().flatten().count() as f64 + GAP
    }
}

/// A text, cut off where it is longer.
fn cut(text: &str, letters_max: usize) -> String {
    if text.chars().count() <= letters_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(letters_max - 1).collect();
    format!("{}…", kept.trim_end())
}
