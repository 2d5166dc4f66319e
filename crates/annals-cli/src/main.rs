//! The command line of Annals.
#![forbid(unsafe_code)]

// Order: a macro is known only behind its definition.
#[macro_use]
mod tell;

// In the order a newcomer should read them.
mod command;
mod as_of;
mod context;
mod request;
mod place;
mod remote;
mod beside;
mod interrupt;
mod told;
mod stop;
mod output;
mod table;
mod shown;
mod columns;
mod rows;
mod progress;
mod reports;
mod ldp_import;
mod doctor;

use std::io::Write;
use std::process::ExitCode;

/// Imports allocate many small values on one thread and free them on another, which mimalloc does faster.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_going_at_the_file_limit();
    let arguments = match command::read_arguments() {
        Ok(arguments) => arguments,
        // `--help` and `--version` also end here; a closed pipe must not make them fail.
        Err(error) if error.use_stderr() && std::env::args().any(|argument| argument == "--json") => {
            return ExitCode::from(stop::tell_usage(&error.to_string()));
        }
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { stop::USAGE } else { stop::OK });
        }
    };
    let is_json = arguments.global.is_json;
    end(match command::run(&arguments) {
        Ok(()) => stop::OK,
        Err(stop) => stop.tell(is_json),
    })
}

/// Ends the process at once. Everything is closed, and the system takes back the memory of a process faster than the
/// allocator gives it back in pieces.
fn end(code: u8) -> ExitCode {
    let _ = std::io::stdout().flush();
    #[cfg(unix)]
    signal_hook::low_level::exit(code.into());
    #[cfg(not(unix))]
    ExitCode::from(code)
}

/// When a process exceeds the limit on the size of files (`ulimit -f`), the system ends it by default. This handler
/// makes the write fail instead, and the repository reports that the disk is full.
fn keep_going_at_the_file_limit() {
    // The handler only sets a flag, which no code reads. Installing it is enough to keep the process alive.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}
