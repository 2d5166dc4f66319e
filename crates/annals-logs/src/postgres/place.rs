//! The place of a log in PostgreSQL: a URL without a password.

use std::fmt;
use std::path::PathBuf;

use annals::{Error, ErrorKind, Result};

use crate::place_part;

/// Servers that may be the primary, at most.
const HOSTS_MAX: usize = 16;
/// Units: bytes of a place.
const PLACE_BYTES_MAX: usize = 4096;
/// The port of PostgreSQL.
const DEFAULT_PORT: u16 = 5432;
/// The options of a place.
const OPTIONS: &str = "schema, sslmode, sslrootcert, password-file, durability, vacuum, target_session_attrs";

/// How a connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// Without TLS.
    None,
    /// TLS; the certificate of the server and its name are checked, with the authorities of this file or of the system.
    Verified(Option<PathBuf>),
}

/// How purged bytes leave the files of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vacuum {
    /// The table is written anew. Nobody reads or writes it meanwhile.
    Full,
    /// The server overwrites them in time.
    Plain,
}

/// A server that may be the primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub name: String,
    pub port: u16,
}

/// Where the log is.
#[derive(Clone, Debug)]
pub(super) struct PostgresPlace {
    pub user: String,
    pub hosts: Vec<Host>,
    pub database: String,
    /// Shape: lower-case letters, digits and underscores, so that it needs no quotes.
    pub schema: String,
    pub protection: Protection,
    pub password_file: Option<PathBuf>,
    /// Opens a log that may lose acknowledged commits.
    pub is_unsafe: bool,
    pub vacuum: Vacuum,
}

impl Host {
    /// True for a server of this machine: a socket of the file system, or a loopback address.
    pub fn is_local(&self) -> bool {
        let is_loopback = self.name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        self.name.starts_with('/') || self.name == "localhost" || is_loopback
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.contains(':') {
            true => write!(f, "[{}]:{}", self.name, self.port),
            false => write!(f, "{}:{}", self.name, self.port),
        }
    }
}

impl fmt::Display for PostgresPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.hosts.iter().map(Host::to_string).collect();
        write!(f, "postgres://{}@{}/{}?schema={}", self.user, hosts.join(","), self.database, self.schema)
    }
}

fn invalid(text: impl fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("postgres place: {text}"))
}

fn password_found() -> Error {
    invalid(
        "expected no password, found one: lists of processes and logs would show it; give password-file=PATH, or set \
         PGPASSFILE or PGPASSWORD, and change the password",
    )
}

/// Errors: `InvalidArgument` if it is not text.
fn decoded(text: &str, what: &str) -> Result<String> {
    place_part::decoded(text, what).map_err(invalid)
}

impl PostgresPlace {
    /// Reads `postgres://USER@HOST:PORT,…/DATABASE?OPTION=VALUE&…`.
    ///
    /// Errors: `InvalidArgument`. None shows a part of the place that could be a password.
    pub fn parse(text: &str) -> Result<PostgresPlace> {
        let form = "postgres://USER@HOST:PORT/DATABASE";
        if text.len() > PLACE_BYTES_MAX {
            return Err(invalid(format!("expected at most {PLACE_BYTES_MAX} bytes, found {}", text.len())));
        }
        let (_, rest) = text.split_once("://").ok_or_else(|| invalid(format!("expected {form}")))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) =
            rest.split_once('/').ok_or_else(|| invalid(format!("expected a database: {form}")))?;
        if database.contains('@') {
            return Err(password_found());
        }
        let (user, hosts) =
            authority.rsplit_once('@').ok_or_else(|| invalid(format!("expected a user: {form}")))?;
        if user.contains(':') {
            return Err(password_found());
        }
        let (user, database) = (decoded(user, "user")?, decoded(database, "database")?);
        if user.is_empty() || database.is_empty() || database.contains('/') {
            return Err(invalid(format!("expected a user and one database: {form}")));
        }
        let hosts = hosts.split(',').map(host).collect::<Result<Vec<Host>>>()?;
        if hosts.len() > HOSTS_MAX {
            return Err(invalid(format!("expected at most {HOSTS_MAX} hosts, found {}", hosts.len())));
        }
        let is_local = hosts.iter().all(Host::is_local);
        let mut place = PostgresPlace {
            user,
            hosts,
            database,
            schema: "annals".to_owned(),
            protection: if is_local { Protection::None } else { Protection::Verified(None) },
            password_file: None,
            is_unsafe: false,
            vacuum: Vacuum::Full,
        };
        place.set_options(query)?;
        Ok(place)
    }

    fn set_options(&mut self, query: &str) -> Result<()> {
        let mut authorities = None;
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option
                .split_once('=')
                .ok_or_else(|| invalid(format!("expected OPTION=VALUE with one of {OPTIONS}")))?;
            let value = decoded(value, "the value of an option")?;
            match (name, value.as_str()) {
                ("schema", _) => self.schema = schema(value)?,
                ("sslmode", "disable") => self.protection = Protection::None,
                ("sslmode", "require" | "verify-full") => self.protection = Protection::Verified(None),
                ("sslmode", _) => {
                    let text = "sslmode: expected disable, require or verify-full (the last two check the \
                                certificate and the name of the server); correct it";
                    return Err(invalid(text));
                }
                ("sslrootcert", _) => authorities = Some(PathBuf::from(value)),
                ("password-file", _) => self.password_file = Some(PathBuf::from(value)),
                ("durability", "unsafe") => self.is_unsafe = true,
                ("durability", "safe") => self.is_unsafe = false,
                ("durability", _) => return Err(invalid("durability: expected safe or unsafe; correct it")),
                ("vacuum", "full") => self.vacuum = Vacuum::Full,
                ("vacuum", "plain") => self.vacuum = Vacuum::Plain,
                ("vacuum", _) => return Err(invalid("vacuum: expected full or plain; correct it")),
                ("target_session_attrs", "read-write") => {}
                ("target_session_attrs", _) => {
                    let text = "target_session_attrs: expected read-write: the log is read and written at the primary";
                    return Err(invalid(text));
                }
                ("password" | "sslpassword", _) => return Err(password_found()),
                (name, _)
                    if name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter)) =>
                {
                    return Err(invalid(format!("expected one of {OPTIONS}, found '{name}'; correct it")));
                }
                _ => {
                    return Err(invalid(format!(
                        "expected one of {OPTIONS}, found another name; correct it"
                    )));
                }
            }
        }
        if authorities.is_some() {
            if self.protection == Protection::None {
                return Err(invalid("sslrootcert: expected sslmode=verify-full beside it; add it"));
            }
            self.protection = Protection::Verified(authorities);
        }
        Ok(())
    }
}

fn host(text: &str) -> Result<Host> {
    let port_expected =
        || invalid("expected HOST:PORT with a port from 1 to 65535; a password does not belong here");
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => (address, None),
        Some((address, rest)) => (address, Some(rest.strip_prefix(':').ok_or_else(port_expected)?)),
        None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
    };
    let name = decoded(name, "host")?;
    if name.is_empty() {
        return Err(invalid("expected a host, found none; name it"));
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or_else(port_expected)?,
    };
    Ok(Host { name, port })
}

fn schema(name: String) -> Result<String> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let is_name = name.chars().next().is_some_and(is_letter)
        && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit());
    if !is_name || name.len() > 63 || name.starts_with("pg_") {
        let text = "schema: expected at most 63 lower-case letters, digits and underscores, which begin with a letter \
                    and not with pg_; correct it";
        return Err(invalid(text));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_with_all_its_parts() {
        let text = "postgres://ann%40x@db1:5433,[::1],db2/li%20b?schema=a_1&sslmode=verify-full&sslrootcert=/c.pem\
                    &password-file=/p&durability=unsafe&vacuum=plain&target_session_attrs=read-write";
        let place = PostgresPlace::parse(text).unwrap();
        let hosts: Vec<String> = place.hosts.iter().map(Host::to_string).collect();
        assert_eq!((&*place.user, &*place.database, &*place.schema), ("ann@x", "li b", "a_1"));
        assert_eq!(hosts, ["db1:5433", "[::1]:5432", "db2:5432"]);
        assert_eq!(place.protection, Protection::Verified(Some("/c.pem".into())));
        assert!(place.is_unsafe && place.vacuum == Vacuum::Plain);
        assert_eq!(place.to_string(), "postgres://ann@x@db1:5433,[::1]:5432,db2:5432/li b?schema=a_1");
    }

    #[test]
    fn without_an_option_hosts_of_other_machines_need_tls() {
        let protection =
            |hosts: &str| PostgresPlace::parse(&format!("postgres://a@{hosts}/b")).unwrap().protection;
        assert_eq!(protection("localhost"), Protection::None);
        assert_eq!(protection("%2Frun%2Fpostgresql"), Protection::None);
        assert_eq!(protection("127.0.0.1,db"), Protection::Verified(None));
    }

    #[test]
    fn no_refusal_shows_a_password() {
        let places = [
            "postgres://u:secret@h/d",
            "postgres://u:sec/ret@h/d",
            "postgres://u:sec@ret@h/d",
            "postgres://u:secret/d",
            "postgres://u@h:secret/d",
            "postgres://u@h/d?password=secret",
            "postgres://u@h/d?secret",
            "postgres://u@h/d?sslmode=secret",
            "postgres://u@h/d?durability=secret",
            "postgres://u@h/d?schema=secret!",
            "postgres://u@h/d?vacuum=secret",
            "postgres://u@h/d?target_session_attrs=secret",
            "postgres://u@h/d?se%20cret=1",
            "postgres://secret",
            "postgres://u@/secret",
        ];
        for place in places {
            let error = PostgresPlace::parse(place).expect_err(place).to_string();
            assert!(!error.contains("secret") && !error.contains("ret@"), "{place}: {error}");
        }
        let unknown = PostgresPlace::parse("postgres://u@h/d?pasword=x").unwrap_err().to_string();
        assert!(unknown.contains("'pasword'"), "{unknown}");
    }
}
