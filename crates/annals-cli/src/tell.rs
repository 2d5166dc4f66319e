//! Lines on standard error, whose reader may have closed it.

/// Writes a line to standard error, as `eprintln!` does. If the reader has gone, as `head` does, the command goes on: it
/// would end with a panic, in the middle of an import.
macro_rules! tell {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($text)*)));
    }};
}
