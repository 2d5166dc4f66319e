//! Series: a name with a colour and a shape, its marks, and the legend.

use std::fmt::Write;

use super::scale::{Placed, number};
use crate::report::html::escaped;

/// Colours of the style.
const COLOURS: usize = 7;
/// Shapes of marks.
const SHAPES: usize = 7;
/// Units: pixels.
const MARK_RADIUS: f64 = 3.4;
/// The width of a letter, about. Units: pixels.
pub const LETTER: f64 = 6.8;
/// The height of a line of the legend. Units: pixels.
pub const LEGEND_LINE: f64 = 16.0;

/// The values that belong together: those of one target, or of one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    pub name: String,
    /// Counted from 0; colours come again after seven.
    pub colour: usize,
    /// Counted from 0; shapes come again after seven.
    pub shape: usize,
    /// Marks with a rim only, and broken lines.
    pub is_hollow: bool,
    /// A thicker line: the subject of the page.
    pub is_bold: bool,
}

/// A value, and the interval around it if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    pub at: f64,
    pub interval: Option<[f64; 2]>,
}

impl Series {
    /// The series at this place: its colour and its shape are those of no other among the first seven.
    pub fn nth(place: usize, name: impl Into<String>) -> Series {
        Series { name: name.into(), colour: place, shape: place, is_hollow: place >= COLOURS, is_bold: false }
    }

    /// The classes of the style.
    pub fn class(&self) -> String {
        let hollow = if self.is_hollow { " hollow" } else { "" };
        let bold = if self.is_bold { " bold" } else { "" };
        format!("c{}{hollow}{bold}", self.colour % COLOURS)
    }

    /// The mark at a point.
    pub fn mark(&self, x: f64, y: f64) -> String {
        let r = MARK_RADIUS;
        let path = match self.shape % SHAPES {
            0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 -{} 0z", x - r, 2.0 * r, 2.0 * r),
            1 => format!("M{:.1} {:.1}h{s}v{s}h-{s}z", x - 3.0, y - 3.0, s = 6),
            2 => format!("M{x:.1} {:.1}l4 7h-8z", y - 4.2),
            3 => format!("M{x:.1} {:.1}l4.4 4.4l-4.4 4.4l-4.4 -4.4z", y - 4.4),
            4 => format!("M{x:.1} {:.1}l4 -7h-8z", y + 4.2),
            5 => format!("M{:.1} {y:.1}h8M{x:.1} {:.1}v8", x - 4.0, y - 4.0),
            _ => format!("M{:.1} {:.1}l6 6M{:.1} {:.1}l6 -6", x - 3.0, y - 3.0, x - 3.0, y + 3.0),
        };
        format!("<path class=\"mark\" d=\"{path}\"/>")
    }
}

impl Value {
    /// The value and the ends of its interval.
    pub fn all(&self) -> impl Iterator<Item = f64> {
        [self.at].into_iter().chain(self.interval.into_iter().flatten())
    }

    /// The value in words.
    pub fn text(&self) -> String {
        let interval = self.interval.map(|[low, high]| format!(" ({} to {})", number(low), number(high)));
        number(self.at) + &interval.unwrap_or_default()
    }

    /// Where it is on an axis, and where the ends of its interval are.
    pub fn place(&self, axis: &Placed) -> (f64, Option<[f64; 2]>) {
        (axis.at(self.at), self.interval.map(|ends| ends.map(|end| axis.at(end))))
    }
}

/// The place of a label below `x`: in its middle, unless the label would reach beyond the plot.
///
/// Shape: attributes of `text`.
fn below(x: f64, label: &str, width: f64) -> String {
    let half = LETTER * label.chars().count() as f64 / 2.0;
    let (x, anchor) = match x {
        x if x < half => (1.0, "start"),
        x if x + half > width => (width - 1.0, "end"),
        x => (x, "middle"),
    };
    format!("x=\"{x:.1}\" text-anchor=\"{anchor}\"")
}

/// The level axis below a plot: a line and a label at each tick, and the label of the axis.
pub fn level_axis(
    axis: &Placed,
    label: &str,
    [top, bottom]: [f64; 2],
    [left, right, width]: [f64; 3],
) -> String {
    let mut svg = String::new();
    for tick in axis.ticks() {
        let (at, label) = (tick.at, escaped(&tick.label));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>\
             <text {} y=\"{:.1}\">{label}</text>",
            below(at, &tick.label, width),
            bottom + 14.0
        );
    }
    let (middle, label) = ((left + right) / 2.0, escaped(label));
    svg + &format!(
        "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>\n",
        bottom + 29.0
    )
}

/// The lines of a legend, and their height.
pub fn legend_lines(series: &[Series], width: f64) -> (String, f64) {
    let (mut x, mut y) = (8.0, 0.0);
    let mut svg = String::new();
    for series in series {
        let wide = 16.0 + LETTER * series.name.chars().count() as f64 + 14.0;
        if x > 8.0 && x + wide > width {
            (x, y) = (8.0, y + LEGEND_LINE);
        }
        let middle = y + LEGEND_LINE / 2.0;
        let _ = writeln!(
            svg,
            "<g class=\"{}\">{}<text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            series.class(),
            series.mark(x + 4.0, middle),
            x + 12.0,
            middle + 4.0,
            escaped(&series.name)
        );
        x += wide;
    }
    (svg, if series.is_empty() { 0.0 } else { y + LEGEND_LINE })
}
