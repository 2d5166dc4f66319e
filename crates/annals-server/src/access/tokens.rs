//! Tokens: the secrets of clients, of which only hashes are stored.
//!
//! A token is `annals_NAME_SECRET`; its secret has 256 random bits as 64 hexadecimal digits. A line of the token file is
//!
//! ```text
//! NAME SHA-256 ROLE,ROLE EXPIRES
//! ```
//!
//! The hash is that of the whole token, and EXPIRES an instant or `never`. With `-` instead of the hash, the line gives
//! roles to a name that a certificate or a proxy proves. A name may have several tokens, so that a new one can replace an
//! old one without a gap. Lines that begin with `#` are comments.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use annals::{Error, ErrorKind, Instant, Result, Sha256};
use sha2::Digest as _;
use subtle::ConstantTimeEq as _;

use crate::protocol::masking::{TOKEN_START as START, masked};

/// Units: bytes.
const SECRET_BYTES: usize = 32;
/// Longest name. Units: bytes.
const NAME_BYTES_MAX: usize = 64;
/// Digits of a hash that name a token.
const ID_DIGITS: usize = 8;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of the principal.
    pub name: Arc<str>,
    /// SHA-256 of the token; `None` for a name with roles but without a token.
    pub hash: Option<Sha256>,
    /// Its roles.
    pub roles: Vec<Arc<str>>,
    /// From when on the line does not count; `None` for never.
    pub expires: Option<Instant>,
}

/// The lines of a token file, by name.
#[derive(Debug, Default)]
pub struct Tokens(HashMap<Arc<str>, Vec<Listed>>);

/// Refuses a name that no token can have.
///
/// Errors: `InvalidArgument`.
pub fn check_name(name: &str) -> Result<()> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    if !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_known) && name != "-" {
        return Ok(());
    }
    let text = format!("name {name:?}: expected 1 to {NAME_BYTES_MAX} of the characters A-Z a-z 0-9 . _ @ -");
    Err(Error::new(ErrorKind::InvalidArgument, text))
}

/// True for a name that something else than a token proves, or that a client states: it is not blank, has no control
/// characters, and is no token.
pub fn is_given_name(name: &str) -> bool {
    !name.trim().is_empty() && !name.chars().any(char::is_control) && masked(name) == name
}

/// A new token for a name.
pub fn new_token(name: &str) -> String {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    let mut token = format!("{START}{name}_");
    for byte in bytes {
        write!(token, "{byte:02x}").expect("memory takes what is written");
    }
    token
}

/// True for a text in the form of a token.
pub fn is_token(text: &str) -> bool {
    text.starts_with(START)
}

/// The name in a token; `None` for a text that is no token.
pub fn name_of(token: &str) -> Option<&str> {
    let (name, secret) = token.strip_prefix(START)?.rsplit_once('_')?;
    let is_secret = secret.len() == 2 * SECRET_BYTES && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_secret && check_name(name).is_ok()).then_some(name)
}

/// SHA-256 of a token.
pub fn hash_of(token: &str) -> Sha256 {
    Sha256(sha2::Sha256::digest(token.as_bytes()).into())
}

impl Listed {
    /// The start of its hash, which tells the tokens of one name apart; `-` without a token.
    pub fn id(&self) -> String {
        self.hash.map_or_else(|| "-".to_owned(), |hash| hash.to_string()[..ID_DIGITS].to_owned())
    }

    /// True unless it has expired.
    pub fn stands(&self, now: Instant) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// Its line.
    pub fn line(&self) -> String {
        let hash = self.hash.map_or_else(|| "-".to_owned(), |hash| hash.to_string());
        let expires = self.expires.map_or_else(|| "never".to_owned(), |instant| instant.to_string());
        format!("{} {hash} {} {expires}", self.name, self.roles.join(","))
    }

    /// Reads a line; `None` for a comment and for an empty one.
    ///
    /// Errors: what was expected, without the text of the line, which may hold a secret.
    pub fn parse(line: &str) -> std::result::Result<Option<Listed>, &'static str> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, hash, roles, expires] = fields[..] else {
            return Err("expected four fields: name, SHA-256, roles, expiry");
        };
        check_name(name).map_err(|_| "expected a name as the first field")?;
        let hash = match hash {
            "-" => None,
            digits => Some(
                Sha256::parse(digits)
                    .ok_or("expected SHA-256 in hexadecimal digits, or -, as the second field")?,
            ),
        };
        let roles: Vec<Arc<str>> = roles.split(',').map(Arc::from).collect();
        if roles.iter().any(|role| check_name(role).is_err()) {
            return Err("expected roles with commas between them as the third field");
        }
        let expires = match expires {
            "never" => None,
            instant => {
                Some(instant.parse().map_err(|_| "expected an instant, or never, as the fourth field")?)
            }
        };
        Ok(Some(Listed { name: name.into(), hash, roles, expires }))
    }
}

impl Tokens {
    /// Those of these lines.
    pub fn new(listed: impl IntoIterator<Item = Listed>) -> Tokens {
        let mut by_name: HashMap<Arc<str>, Vec<Listed>> = HashMap::new();
        for one in listed {
            by_name.entry(Arc::clone(&one.name)).or_default().push(one);
        }
        Tokens(by_name)
    }

    /// The line of a token; `None` if there is none, or if it has expired.
    pub fn find(&self, token: &str, now: Instant) -> Option<&Listed> {
        let hash = hash_of(token);
        // The name is no secret; the hash is compared in constant time.
        let of_name = self.0.get(name_of(token)?)?.iter();
        let is_it = |one: &&Listed| one.hash.is_some_and(|known| bool::from(known.0.ct_eq(&hash.0)));
        of_name.filter(is_it).find(|one| one.stands(now))
    }

    /// The line of a name whose roles are given without a token.
    pub fn of_name(&self, name: &str, now: Instant) -> Option<&Listed> {
        self.0.get(name)?.iter().find(|one| one.hash.is_none() && one.stands(now))
    }

    /// The line with this id; `None` if it is gone or has expired.
    pub fn with_id(&self, name: &str, id: &str, now: Instant) -> Option<&Listed> {
        self.0.get(name)?.iter().find(|one| one.stands(now) && one.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(token: &str, expires: Option<Instant>) -> Listed {
        let (name, roles) = (name_of(token).unwrap().into(), vec!["read".into()]);
        Listed { name, hash: Some(hash_of(token)), roles, expires }
    }

    #[test]
    fn a_token_is_found_by_its_name_and_its_whole_text_until_it_expires() {
        let (one, other) = (new_token("ada_b@x.org"), new_token("ada_b@x.org"));
        assert_eq!((name_of(&one), one.len()), (Some("ada_b@x.org"), 7 + 11 + 1 + 64));
        assert_ne!(one, other);
        let at = |text: &str| text.parse::<Instant>().unwrap();
        let now = at("2026-01-01T00:00:00Z");
        let tokens = Tokens::new([listed(&one, None), listed(&other, Some(at("2026-02-01T00:00:00Z")))]);
        assert!(tokens.find(&one, now).is_some() && tokens.find(&other, now).is_some());
        assert!(tokens.find(&other, at("2026-02-01T00:00:00Z")).is_none());
        let mut wrong = one.clone();
        wrong.replace_range(wrong.len() - 1.., if one.ends_with('0') { "1" } else { "0" });
        for text in [
            wrong.as_str(),
            &one[..one.len() - 1],
            &one.to_uppercase(),
            "annals_",
            "annals__",
            "",
            &one.replace("ada", "eve"),
        ] {
            assert!(tokens.find(text, now).is_none(), "{text}");
        }
    }

    #[test]
    fn a_line_reads_as_it_was_written() {
        let one = listed(&new_token("ada"), None);
        let nobody = Listed { hash: None, ..one.clone() };
        for one in [one, nobody] {
            assert_eq!(Listed::parse(&one.line()), Ok(Some(one)));
        }
        assert_eq!(Listed::parse("  # ada was here"), Ok(None));
        let hash = "0".repeat(64);
        for line in [
            "ada".into(),
            format!("ada {hash} read"),
            format!("ada {hash}0 read never"),
            format!("ada {hash} read,, never"),
            format!("ada {hash} read tomorrow"),
            format!("a:b {hash} read never"),
        ] {
            assert!(Listed::parse(&line).is_err(), "{line}");
        }
    }
}
