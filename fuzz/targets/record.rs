//! Opens a repository on records.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    annals_fuzz::damage::survives(&annals_fuzz::damage::unpack(bytes));
});
