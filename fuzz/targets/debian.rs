//! Imports releases of Debian.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    annals_debian::fuzz::import_debian(bytes);
});
