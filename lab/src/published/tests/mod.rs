//! Tests of the published pages.

mod pages;
mod raw;
mod rendered;
