//! A system that a suite measures.

use serde::{Deserialize, Serialize};

use super::peer::Peer;

/// One of the systems that a suite knows, or one of the user's own.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub title: &'static str,
    pub kind: Kind,
    /// The system that must be installed first; `None` if the target is a part of this program.
    pub peer: Option<Peer>,
}

/// The role of a target in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Annals.
    Ours,
    /// Another system, as its makers deliver it.
    Peer,
    /// Another system, with the settings that its makers recommend for such use.
    Tuned,
    /// The best that this machine can do.
    Limit,
    /// Nothing at all: what remains is the harness.
    Floor,
}

impl std::str::FromStr for Target {
    type Err = String;

    /// A system of the user's own: `NAME=COMMAND`. Its name lives as long as the process.
    fn from_str(text: &str) -> Result<Target, String> {
        let expected = || format!("{text:?}: expected NAME=COMMAND, the name of letters, digits and hyphens");
        let (name, command) = text.split_once('=').ok_or_else(expected)?;
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        };
        if !is_name(name) || command.trim().is_empty() {
            return Err(expected());
        }
        let [name, command]: [&'static str; 2] =
            [name, command].map(|text| &*Box::leak(text.to_owned().into_boxed_str()));
        Ok(Target { name, title: name, kind: Kind::Peer, peer: Some(Peer::Command(command)) })
    }
}

impl std::fmt::Display for Target {
    /// The form that `from_str` reads, of a system of the user's own.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let command = if let Some(Peer::Command(command)) = self.peer { command } else { "" };
        write!(f, "{}={command}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_of_the_users_own_is_a_name_and_a_command() {
        let target: Target = "mine=python3 adapter.py --x=1".parse().unwrap();
        assert_eq!(target.name, "mine");
        assert_eq!(target.to_string(), "mine=python3 adapter.py --x=1");
        for text in ["", "mine", "=x", "a/b=x", "mine= "] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
