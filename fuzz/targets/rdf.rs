//! Reads bodies of RDF and SPARQL updates.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    annals_server::rdf::fuzz::read_any(bytes);
});
