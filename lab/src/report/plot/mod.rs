//! Plots as SVG text: data in, text out. A page of [`super::html`] has their style; a file of its own gets it by [`standalone`].
//!
//! Colours come from variables of the style, so a plot is right on light and on dark ground. Series also differ by shape. A screen
//! reader gets the title and the description; a mouse gets the figures of each point.

// In the order a newcomer should read them.
mod scale;
mod series;
mod point_plot;
mod line_chart;
#[cfg(test)]
mod tests;

pub use line_chart::{Line, LineChart};
pub use point_plot::{PointPlot, PointRow};
pub use scale::{Axis, Scale, number};
pub use series::{Series, Value};

use super::html::escaped;

/// The style of all plots.
pub const STYLE: &str = include_str!("plot.css");

/// A plot as a file of its own.
pub fn standalone(svg: &str) -> String {
    let (start, rest) = svg.split_once('>').expect("a plot begins with its element");
    format!("{start}>\n<style>\n{STYLE}</style>{rest}")
}

/// The element around a plot.
fn element(width: f64, height: f64, title: &str, description: &str, content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<desc>{}</desc>\n{content}</svg>\n",
        escaped(title),
        escaped(description)
    )
}
