//! The command line of Annals.
#![forbid(unsafe_code)]

mod command;
mod http;
// TODO(#2): the import command calls this module; until it does, nothing here is reached from `main`.
#[allow(dead_code, unused_imports)]
mod import;
#[allow(dead_code, unused_imports)]
mod wire;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A graph repository with complete history.
#[derive(Debug, Parser)]
#[command(name = "annals", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<command::serve::Serve>),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Serve(serve) => serve.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("annals: {error}");
            ExitCode::FAILURE
        }
    }
}
