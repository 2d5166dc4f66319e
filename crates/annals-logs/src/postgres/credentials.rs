//! The password of a log in PostgreSQL: from a file of its own, or from where PostgreSQL's own programs find it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use annals::{Error, ErrorKind, Result};

use super::place::{Host, PostgresPlace};

/// Units: bytes of a file of passwords.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A variable of the environment.
type Variable<'v> = &'v dyn Fn(&str) -> Option<OsString>;

/// Where the password of each host comes from. It is read anew for each connection, so that it may change.
pub(super) fn password(place: &PostgresPlace, host: &Host, variable: Variable<'_>) -> Result<Option<String>> {
    if let Some(path) = &place.password_file {
        let text = read(path, "password-file")?;
        return Ok(Some(text.lines().next().unwrap_or_default().to_owned()));
    }
    if let Some(password) = variable("PGPASSWORD") {
        let text = "PGPASSWORD: expected UTF-8, found other bytes; use password-file";
        let password = password.into_string();
        return password.map(Some).map_err(|_| Error::new(ErrorKind::InvalidArgument, text));
    }
    let (path, is_named) = match (variable("PGPASSFILE"), variable("HOME")) {
        (Some(path), _) => (PathBuf::from(path), true),
        (None, Some(home)) => (Path::new(&home).join(".pgpass"), false),
        (None, None) => return Ok(None),
    };
    if !is_named && !path.exists() {
        return Ok(None);
    }
    check_rights(&path)?;
    let text = read(&path, "PGPASSFILE")?;
    Ok(text.lines().find_map(|line| matching(line, place, host)))
}

fn read(path: &Path, what: &str) -> Result<String> {
    let refused = |found: String| {
        let text =
            format!("{what}: expected a readable file at {}, found: {found}; correct it", path.display());
        Error::new(ErrorKind::InvalidArgument, text)
    };
    let data = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?;
    if !data.is_file() || data.len() > FILE_BYTES_MAX {
        return Err(refused(format!("no file, or one of more than {FILE_BYTES_MAX} bytes")));
    }
    // The error of bytes that are no text does not show them.
    std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))
}

/// PostgreSQL's own programs ignore a file that others can read; here it is an error, so that nobody wonders.
#[cfg(unix)]
fn check_rights(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).map(|data| data.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        let text =
            format!("{}: expected a file that only its owner can read; run: chmod 600 {0}", path.display());
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_rights(_: &Path) -> Result<()> {
    Ok(())
}

/// The password of a line `HOST:PORT:DATABASE:USER:PASSWORD`, if it is for this host. A backslash escapes a colon.
fn matching(line: &str, place: &PostgresPlace, host: &Host) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields.last_mut()?.extend(letters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            letter => fields.last_mut()?.push(letter),
        }
    }
    let password = fields.pop()?;
    // A socket of the file system has the name of this machine.
    let name = if host.name.starts_with('/') { "localhost" } else { &host.name };
    let expected = [name, &host.port.to_string(), &place.database, &place.user];
    let is_for =
        fields.len() == 4 && fields.iter().zip(expected).all(|(field, is)| field == "*" || field == is);
    is_for.then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> PostgresPlace {
        PostgresPlace::parse(text).unwrap()
    }

    fn found(place: &PostgresPlace, variables: &[(&str, &Path)]) -> Result<Option<String>> {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        password(place, &place.hosts[0], &variable)
    }

    #[test]
    fn passwords_come_from_where_postgresql_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let (own, pass) = (folder.path().join("own"), folder.path().join("pass"));
        std::fs::write(&own, "one\nrest").unwrap();
        std::fs::write(&pass, "# note\nother:*:*:*:no\nh:5432:d:u:t\\:w:o\n*:*:*:*:three\n").unwrap();
        let plain = place("postgres://u@h/d");
        assert_eq!(found(&plain, &[]).unwrap(), None);
        let with_file = place(&format!("postgres://u@h/d?password-file={}", own.display()));
        let word = Path::new("word");
        assert_eq!(found(&with_file, &[("PGPASSWORD", word)]).unwrap().as_deref(), Some("one"));
        assert_eq!(found(&plain, &[("PGPASSWORD", word)]).unwrap().as_deref(), Some("word"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&pass, std::fs::Permissions::from_mode(0o644)).unwrap();
            let error = found(&plain, &[("PGPASSFILE", &pass)]).unwrap_err();
            assert!(
                error.to_string().contains("chmod 600") && !error.to_string().contains("three"),
                "{error}"
            );
            std::fs::set_permissions(&pass, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_eq!(found(&plain, &[("PGPASSFILE", &pass)]).unwrap().as_deref(), Some("t:w:o"));
        let other = place("postgres://u2@h/d");
        assert_eq!(found(&other, &[("PGPASSFILE", &pass)]).unwrap().as_deref(), Some("three"));
        assert!(found(&plain, &[("PGPASSFILE", Path::new("missing"))]).is_err());
        assert_eq!(found(&plain, &[("HOME", Path::new("missing"))]).unwrap(), None);
    }
}
