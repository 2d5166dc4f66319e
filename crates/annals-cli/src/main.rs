//! The command line of Annals.
#![forbid(unsafe_code)]

// In the order a newcomer should read them.
mod command;
mod context;
mod stop;
mod output;
mod progress;

use std::process::ExitCode;

/// Imports allocate many small values on one thread and free them on another, which mimalloc does faster.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_going_at_the_file_limit();
    let arguments = match command::read_arguments() {
        Ok(arguments) => arguments,
        // Also `--help` and `--version` come this way; a closed pipe must not turn them into a failure.
        Err(error) if error.use_stderr() && std::env::args().any(|argument| argument == "--json") => {
            return ExitCode::from(stop::tell_usage(&error.to_string()));
        }
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { stop::USAGE } else { stop::OK });
        }
    };
    let is_json = arguments.global.is_json;
    match command::run(arguments) {
        Ok(()) => ExitCode::from(stop::OK),
        Err(stop) => ExitCode::from(stop.tell(is_json)),
    }
}

/// Beyond a limit on the size of files (`ulimit -f`) the system ends a process that does not say otherwise. Here the
/// write fails instead, and the repository tells that there is no room.
fn keep_going_at_the_file_limit() {
    // A flag that nobody looks at is a handler that does nothing. Without it, only that limit ends the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}
