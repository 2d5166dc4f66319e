//! Opens a file log on a segment.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    annals_fuzz::damage::survives_segment(bytes);
});
