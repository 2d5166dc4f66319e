//! The LDP door: W3C LDP 1.0 after the Fedora API specification.

pub mod rdf;
