//! How a peer is installed and started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::Outcome;

/// How to install and to start a peer.
#[derive(Clone, Copy)]
pub enum Peer {
    /// By the scripts `install` and `run` in a folder of `peers`, which can have several such peers.
    Scripts { folder: &'static str, name: &'static str },
    /// By a command for the shell: a system of the user's own.
    Command(&'static str),
    /// Measured in the cells of this target, in turn with it.
    Beside(&'static str),
}

impl Peer {
    /// True if it was installed whole.
    pub fn is_installed(&self, peers: &Path) -> bool {
        match self {
            Peer::Scripts { folder, name } => marker(peers, folder, name).is_file(),
            Peer::Command(_) | Peer::Beside(_) => true,
        }
    }

    /// The command that starts its adapter.
    ///
    /// Errors: if it is not installed.
    pub fn command(&self, peers: &Path) -> Outcome<Command> {
        match self {
            Peer::Scripts { name, .. } if !self.is_installed(peers) => {
                Err(format!("{name} is not installed").into())
            }
            Peer::Scripts { folder, name } => {
                let mut command = Command::new(script(folder, "run"));
                // The command may start in another folder.
                command.arg(name).arg(std::path::absolute(installed(peers, folder, name))?);
                Ok(command)
            }
            Peer::Command(text) => {
                let mut command = Command::new("sh");
                command.args(["-c", text]);
                Ok(command)
            }
            Peer::Beside(target) => Err(format!("is measured by {target}").into()),
        }
    }

    /// The version that was installed, as the script wrote it behind the name; empty if it wrote none.
    pub fn version(&self, peers: &Path) -> String {
        let Peer::Scripts { folder, name } = self else { return String::new() };
        let text =
            std::fs::read_to_string(installed(peers, folder, name).join("made-of")).unwrap_or_default();
        text.trim().split_once(' ').map(|(_, version)| version.to_owned()).unwrap_or_default()
    }

    /// Installs it, unless it is there.
    pub fn install(&self, peers: &Path) -> Outcome<()> {
        let Peer::Scripts { folder, name } = self else { return Ok(()) };
        let to = installed(peers, folder, name);
        std::fs::create_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
        let script = script(folder, "install");
        let status = Command::new(&script).arg(name).arg(&to).status();
        let status = status.map_err(|error| format!("{}: {error}", script.display()))?;
        if !status.success() {
            return Err(format!("install {name}: {status}").into());
        }
        if !self.is_installed(peers) {
            return Err(
                format!("install {name}: {} was not written", marker(peers, folder, name).display()).into()
            );
        }
        Ok(())
    }
}

/// The folder that a peer is installed in: all forms of a system share one, such as `bitsy` and `bitsy-tuned`.
fn installed(peers: &Path, folder: &str, name: &str) -> PathBuf {
    peers.join(folder).join(name.split('-').next().unwrap_or(name))
}

/// The file that the script writes last.
fn marker(peers: &Path, folder: &str, name: &str) -> PathBuf {
    installed(peers, folder, name).join("installed")
}

fn script(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(folder).join(name)
}
