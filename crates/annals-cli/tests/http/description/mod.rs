//! The description of the interface, and the page of methods, beside what the server does.

pub mod schemas;
mod methods;
