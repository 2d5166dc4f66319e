//! The tests of RDF.
