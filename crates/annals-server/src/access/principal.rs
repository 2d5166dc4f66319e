//! The principal of a request: a name, its roles, and how it was proven.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use serde_json::{Value as Json, json};

use super::needs::Needs;
use super::tokens::is_given_name;
use super::verb::{Verb, Verbs, of_role};
use crate::protocol::problem::Problem;

/// How a principal was proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By nothing: the server asks for no credentials.
    Anyone,
    /// By nothing, although the server asks for credentials.
    Nobody,
    /// By a token of the token file; `id` is the start of its hash.
    Token {
        /// The first digits of the hash.
        id: String,
    },
    /// By a certificate that the client showed.
    Certificate,
    /// By a token that an OIDC provider signed.
    Oidc,
    /// By the word of the proxy in front.
    Proxy,
}

impl Proof {
    /// Its name in answers.
    pub fn name(&self) -> &'static str {
        match self {
            Proof::Anyone => "anyone",
            Proof::Nobody => "nobody",
            Proof::Token { .. } => "token",
            Proof::Certificate => "certificate",
            Proof::Oidc => "oidc",
            Proof::Proxy => "proxy",
        }
    }
}

/// The client of a request, as far as it is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The name, which is the author of all that it writes; empty for anyone and nobody.
    pub name: Arc<str>,
    /// The names of its roles.
    pub roles: Vec<Arc<str>>,
    /// The verbs that the roles give.
    pub verbs: Verbs,
    /// How it was proven.
    pub proof: Proof,
    /// From when on it is not proven any more.
    pub until: Option<SystemTime>,
}

/// Whether the credential of a long answer still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It stands, and must be asked again after this time at the latest.
    For(Duration),
    /// It ended: its credential expired, was revoked, or gives other roles now.
    Ended,
}

static ANYONE: LazyLock<Arc<Principal>> = LazyLock::new(|| {
    let admin = vec!["admin".into()];
    Arc::new(Principal {
        name: "".into(),
        roles: admin,
        verbs: Verbs::ALL,
        proof: Proof::Anyone,
        until: None,
    })
});

static NOBODY: LazyLock<Arc<Principal>> = LazyLock::new(|| {
    let (roles, verbs, proof) = (Vec::new(), Verbs::NONE, Proof::Nobody);
    Arc::new(Principal { name: "".into(), roles, verbs, proof, until: None })
});

impl Principal {
    /// Every client of a server without credentials.
    pub fn anyone() -> Arc<Principal> {
        Arc::clone(&ANYONE)
    }

    /// A client without credentials of a server that asks for some.
    pub fn nobody() -> Arc<Principal> {
        Arc::clone(&NOBODY)
    }

    /// True for a client that proved nothing, although it must.
    pub fn is_nobody(&self) -> bool {
        self.proof == Proof::Nobody
    }

    /// True if it has a name.
    pub fn is_named(&self) -> bool {
        !matches!(self.proof, Proof::Anyone | Proof::Nobody)
    }

    /// True if its roles allow this.
    pub fn may(&self, verb: Verb) -> bool {
        self.verbs.has(verb)
    }

    /// True if it reads by grants: it has roles that are not built in, and none that reads everything.
    pub fn is_granted(&self) -> bool {
        !self.may(Verb::Read) && self.granted_roles().next().is_some()
    }

    /// Its roles that are not built in: grants in the graph say what they may see.
    pub fn granted_roles(&self) -> impl Iterator<Item = &Arc<str>> {
        self.roles.iter().filter(|role| of_role(role).is_none())
    }

    /// Refuses an operation that its roles do not allow.
    ///
    /// Errors: `unauthenticated` for nobody; `forbidden`.
    pub fn check(&self, needs: Needs) -> Result<(), Problem> {
        let (needed, is_met, which) = match needs {
            Needs::Nothing => return Ok(()),
            Needs::Name => (Verbs::NONE, true, "all"),
            Needs::Seen | Needs::Granted { .. } if self.is_granted() => return Ok(()),
            Needs::Seen => (needs.verbs(), self.may(Verb::Read), "all"),
            Needs::Any(verbs) | Needs::Granted { verbs, is_any: true } => {
                (verbs, self.verbs.has_any(verbs), "one")
            }
            Needs::All(verbs) | Needs::Granted { verbs, .. } => (verbs, self.verbs.has_all(verbs), "all"),
        };
        if self.proof == Proof::Nobody {
            return Err(unauthenticated(
                "expected credentials, found none; send a token as Authorization: Bearer",
            ));
        }
        if is_met { Ok(()) } else { Err(self.forbidden(needed, which)) }
    }

    /// Refuses what needs these verbs.
    pub fn forbidden(&self, needed: Verbs, which: &str) -> Problem {
        let list = |verbs: Verbs| verbs.list().map(Verb::name).collect::<Vec<_>>().join(", ");
        let found = match list(self.verbs) {
            none if none.is_empty() => "none".to_owned(),
            found => found,
        };
        let text = format!(
            "{}: expected {which} of the verbs {}, found {found}; ask for a role that has them",
            self.shown(),
            list(needed)
        );
        let needed: Json = needed.list().map(Verb::name).collect();
        Problem::door("forbidden", text).with("needed", needed)
    }

    /// The author of a write: the name, or another one that the client names and may name.
    ///
    /// Errors: `invalid-argument` for a text that is no name; `forbidden`.
    pub fn author(&self, named: Option<String>) -> Result<String, Problem> {
        match named {
            Some(named) if !named.is_empty() && !is_given_name(&named) => {
                let text = "author: expected a name in Annals-Author, or as author in the body, found blanks only, control \
                            characters, or a token; correct it, or leave it out";
                Err(Problem::invalid(text))
            }
            Some(named) if self.is_named() && *named != *self.name && !self.may(Verb::SignForOthers) => {
                let text = format!(
                    "author {named:?}: expected {:?}, the name of the client; leave it out, or ask for a role with \
                     sign-for-others",
                    self.name
                );
                Err(Problem::door("forbidden", text))
            }
            Some(named) => Ok(named),
            None => Ok((*self.name).to_owned()),
        }
    }

    /// As the log and messages show it.
    pub fn shown(&self) -> &str {
        match self.proof {
            Proof::Anyone => "anyone",
            Proof::Nobody => "nobody",
            _ => &self.name,
        }
    }

    /// The principal as `/v1/whoami` shows it.
    pub fn to_json(&self) -> Json {
        let until = self.until.and_then(|until| until.duration_since(SystemTime::UNIX_EPOCH).ok());
        let until = until.and_then(|since| i64::try_from(since.as_micros()).ok());
        let until = until.and_then(|micros| annals::Instant::from_micros(micros).ok());
        let mut json = json!({
            "name": &*self.name,
            "roles": self.roles.iter().map(|role| &**role).collect::<Vec<&str>>(),
            "verbs": self.verbs.list().map(Verb::name).collect::<Vec<_>>(),
            "proof": self.proof.name(),
        });
        if let Some(until) = until {
            json["until"] = until.to_string().into();
        }
        json
    }
}

/// The answer to a client that the server does not know.
pub fn unauthenticated(text: &str) -> Problem {
    const WAYS: &str = "Bearer realm=\"annals\", Basic realm=\"annals\", charset=\"UTF-8\"";
    let ways = http::HeaderValue::from_static(WAYS);
    Problem::door("unauthenticated", format!("client: {text}")).header(http::header::WWW_AUTHENTICATE, ways)
}
