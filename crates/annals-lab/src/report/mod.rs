//! Pages for people: self-contained HTML, and plots as SVG.

pub mod html;
pub mod plot;
