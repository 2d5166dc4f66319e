//! `annals completions`: completions for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::context::Context;
use crate::stop::Outcome;

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals completions bash > ~/.local/share/bash-completion/completions/annals
  annals completions zsh > \"${fpath[1]}/_annals\"
  annals completions fish > ~/.config/fish/completions/annals.fish")]
pub struct Arguments {
    /// Shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    // Into memory first: the generator panics when its output is closed.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "annals", &mut script);
    Ok(std::io::Write::write_all(context.output.writer(), &script)?)
}
