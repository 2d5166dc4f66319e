//! Peers that are installed from package registries, and the command `install`.

use std::path::PathBuf;

use clap::Args;

use super::peer::Peer;
use super::suite::Suite;
use super::target::Target;
use crate::outcome::Outcome;

/// Where runs, reports and peers are kept, below the present folder.
pub const DATA: &str = "lab-data";
/// The folder of the installed peers, unless another is given.
pub const PEERS: &str = "lab-data/peers";

/// Options of `install`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab install bitsy neo4j   # fetches them once, from Maven Central
  annals-lab install all           # everything that a suite can be run against")]
pub struct Install {
    /// Names of targets, as `annals-lab list` tells them, or `all`.
    #[arg(required = true)]
    targets: Vec<String>,
    /// Folder of the installed peers.
    #[arg(long, default_value = PEERS)]
    peers: PathBuf,
}

impl Install {
    /// Installs what is not there.
    ///
    /// Errors: if a name is unknown, and if an installation failed, after all others.
    pub fn run(&self, suites: &[&'static Suite]) -> Outcome<()> {
        let all = || suites.iter().flat_map(|suite| suite.targets);
        let mut chosen: Vec<&Target> = Vec::new();
        for name in &self.targets {
            let before = chosen.len();
            chosen.extend(all().filter(|target| name == "all" || target.name == name));
            if chosen.len() == before {
                return Err(
                    format!("install {name}: no target has this name; `annals-lab list` tells them").into()
                );
            }
        }
        let mut failed = Vec::new();
        for target in chosen {
            match &target.peer {
                None | Some(Peer::Beside(_)) => println!("{}: nothing to install", target.name),
                Some(peer) => match peer.install(&self.peers) {
                    Ok(()) => println!("{}: installed", target.name),
                    Err(error) => failed.push(format!("{}: {error}", target.name)),
                },
            }
        }
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ").into()) }
    }
}
