//! Imports JSON Lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    annals_exchange::import::fuzz::import_jsonl(bytes);
});
