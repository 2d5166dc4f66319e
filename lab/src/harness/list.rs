//! The command `list`: the suites, their targets and volumes.

use std::path::PathBuf;

use clap::Args;

use super::install::PEERS;
use super::peer::Peer;
use super::suite::Suite;
use crate::outcome::Outcome;

/// Options of `list`.
#[derive(Args)]
pub struct List {
    /// Folder of the installed peers.
    #[arg(long, default_value = PEERS)]
    peers: PathBuf,
}

impl List {
    /// Prints every suite.
    pub fn run(&self, suites: &[&'static Suite]) -> Outcome<()> {
        for suite in suites {
            println!("{}: {}\n  {}", suite.name, suite.title, suite.text);
            println!("  volumes: {}", suite.volumes.join(", "));
            for target in suite.targets {
                let state = match &target.peer {
                    None | Some(Peer::Beside(_)) => "part of this program",
                    Some(peer) if peer.is_installed(&self.peers) => "installed",
                    Some(_) => "not installed",
                };
                println!("  {:<18} {} ({state})", target.name, target.title);
            }
        }
        Ok(())
    }
}
