//! Plots as SVG text: data in, text out. A page of [`super::html`] has their style; a file of its own gets it by [`standalone`].
//!
//! Colours come from variables of the style, so a plot is right on light and on dark ground. Series also differ by shape. A screen
//! reader gets the title and the description; a mouse gets the figures of each point.

// In the order a newcomer should read them.
mod scale;
mod series;
mod point_plot;
mod line_chart;
mod bar_chart;
#[cfg(test)]
mod tests;

pub use bar_chart::{BarChart, BarRow};
pub use line_chart::{Line, LineChart};
pub use point_plot::{PointPlot, PointRow};
pub use scale::{Axis, Scale, number};
pub use series::{Series, Value};

use super::html::escaped;

/// The style of all plots.
pub const STYLE: &str = include_str!("plot.css");

/// The width of a plot in a file of its own, where the page beside it sets no other. Units: pixels.
const FILE_WIDTH: u32 = 860;

/// A plot as a file of its own.
pub fn standalone(svg: &str) -> String {
    let (start, rest) = svg.split_once('>').expect("a plot begins with its element");
    format!("{start} width=\"{FILE_WIDTH}\">\n<style>\n{STYLE}</style>{rest}")
}

/// The width of a letter of a title, about. Units: pixels, as below.
const TITLE_LETTER: f64 = 8.6;
const TITLE_LINE: f64 = 18.0;

/// The title at the top of a plot, on as many lines as it needs, and its height.
fn heading(title: &str, width: f64) -> (String, f64) {
    let letters_max = (width / TITLE_LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in title.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters_max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let text = |(place, line): (usize, &String)| {
        let y = TITLE_LINE * (place as f64 + 1.0) - 4.0;
        format!("<text class=\"title\" x=\"2\" y=\"{y:.1}\">{}</text>\n", escaped(line))
    };
    (lines.iter().enumerate().map(text).collect(), TITLE_LINE * lines.len() as f64 + 2.0)
}

/// A part of a plot, so far below its top.
fn lowered(svg: &str, by: f64) -> String {
    format!("<g transform=\"translate(0 {by:.1})\">\n{svg}</g>\n")
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
