//! The bytes of records: those written once, and damaged ones.

mod golden_records;
mod fuzz_decoder;
