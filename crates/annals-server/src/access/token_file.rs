//! The token file: read by the server, written by `annals token`.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use annals::storage::private_files;
use annals::{Error, ErrorKind, Result};

use super::tokens::{Listed, Tokens, new_token};

/// Largest file: some 100,000 tokens. Units: bytes.
const BYTES_MAX: u64 = 16 << 20;

/// A file of tokens, which nobody but its owner and the readers of its group may read.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The file at a path.
    pub fn at(path: &Path) -> TokenFile {
        TokenFile { path: path.to_owned() }
    }

    /// Its tokens.
    ///
    /// Errors: `InvalidArgument` if others may read the file or its group may write it, if it is too large, and for a
    /// line that does not read; `Io`; `NotFound`.
    pub fn read(&self) -> Result<Tokens> {
        Ok(Tokens::new(self.list()?))
    }

    /// Its lines, without comments, in their order.
    ///
    /// Errors: as [`TokenFile::read`].
    pub fn list(&self) -> Result<Vec<Listed>> {
        let text = self.text()?;
        let parse = |(index, line): (usize, &str)| {
            Listed::parse(line).map_err(|expected| self.invalid(format!("line {}: {expected}", index + 1)))
        };
        text.lines().enumerate().map(parse).filter_map(Result::transpose).collect()
    }

    /// Adds a token with a fresh secret, and gives the token. It makes the file if there is none.
    ///
    /// Errors: as [`TokenFile::read`].
    pub fn add(&self, listed: impl FnOnce(&str) -> Listed, name: &str) -> Result<String> {
        let token = new_token(name);
        let line = listed(&token).line();
        self.change(true, |text| {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{gap}{line}\n")
        })?;
        Ok(token)
    }

    /// Removes the lines of a name, or only the one with this id; gives the number of removed lines.
    ///
    /// Errors: as [`TokenFile::read`].
    pub fn remove(&self, name: &str, id: Option<&str>) -> Result<usize> {
        let mut removed = 0;
        self.change(false, |text| {
            let is_it = |line: &str| {
                let one = Listed::parse(line).ok().flatten();
                one.is_some_and(|one| *one.name == *name && id.is_none_or(|id| one.id() == id))
            };
            let kept: Vec<&str> = text.lines().filter(|line| !is_it(line)).collect();
            removed = text.lines().count() - kept.len();
            kept.into_iter().map(|line| format!("{line}\n")).collect()
        })?;
        Ok(removed)
    }

    fn text(&self) -> Result<String> {
        let file = File::open(&self.path).map_err(|source| self.io("open", source))?;
        let known = file.metadata().map_err(|source| self.io("ask for its rights", source))?;
        let mode = known.permissions().mode() & 0o777;
        if mode & 0o027 != 0 {
            return Err(self.invalid(format!(
                "expected rights for its owner only, found mode {mode:04o}; run chmod 600 {}",
                self.path.display()
            )));
        }
        let mut text = String::new();
        let read = file.take(BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|source| self.io("read", source))?;
        if text.len() as u64 > BYTES_MAX {
            return Err(self.invalid(format!("expected at most {BYTES_MAX} bytes, found more")));
        }
        Ok(text)
    }

    /// Replaces the file as a whole, one process at a time, with the owner and the rights that it had.
    fn change(&self, may_create: bool, change: impl FnOnce(&str) -> String) -> Result<()> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Held until this returns. The file itself is replaced, so the folder has the lock.
        let locked = File::open(folder).map_err(|source| self.io("open its folder", source))?;
        locked.lock().map_err(|source| self.io("lock its folder", source))?;
        let before = match self.text() {
            Ok(text) => Some(text),
            Err(error) if may_create && error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let after = change(before.as_deref().unwrap_or_default());
        if before.as_deref() == Some(&after) {
            return Ok(());
        }
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", std::process::id()));
        let beside = folder.join(name);
        let written = self.write(&beside, &after).and_then(|()| {
            std::fs::rename(&beside, &self.path).map_err(|source| self.io("replace", source))?;
            locked.sync_all().map_err(|source| self.io("sync its folder", source))
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        written
    }

    fn write(&self, beside: &Path, text: &str) -> Result<()> {
        let io = |source| self.io("write", source);
        let mut file = private_files::create(beside).map_err(io)?;
        if let Ok(known) = std::fs::metadata(&self.path) {
            let (own, is) = (file.metadata().map_err(io)?, (known.uid(), known.gid()));
            if (own.uid(), own.gid()) != is {
                std::os::unix::fs::fchown(&file, Some(is.0), Some(is.1)).map_err(io)?;
            }
            file.set_permissions(std::fs::Permissions::from_mode(known.permissions().mode() & 0o640))
                .map_err(io)?;
        }
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)
    }

    fn invalid(&self, text: String) -> Error {
        Error::new(ErrorKind::InvalidArgument, format!("token file {}: {text}", self.path.display()))
    }

    fn io(&self, what: &str, source: std::io::Error) -> Error {
        match source.kind() {
            std::io::ErrorKind::NotFound => {
                let path = self.path.display();
                let text = format!(
                    "token file {path}: there is none; name another with --tokens, or make it with annals token new NAME \
                     --role ROLE --tokens {path}"
                );
                Error::new(ErrorKind::NotFound, text)
            }
            _ => Error::io(format!("{what} the token file"), source)
                .with("path", self.path.display().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annals::Instant;

    fn listed(token: &str) -> Listed {
        let (name, hash) =
            (super::super::tokens::name_of(token).unwrap(), super::super::tokens::hash_of(token));
        Listed { name: name.into(), hash: Some(hash), roles: vec!["read".into()], expires: None }
    }

    #[test]
    fn tokens_are_added_and_removed_and_comments_and_rights_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let file = TokenFile::at(&path);
        assert_eq!(file.list().unwrap_err().kind(), ErrorKind::NotFound);
        let ada = file.add(listed, "ada").unwrap();
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        let text = format!("# ours\n{}", std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, text.trim_end()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let (bob, again) = (file.add(listed, "bob").unwrap(), file.add(listed, "bob").unwrap());
        let tokens = file.read().unwrap();
        for token in [&ada, &bob, &again] {
            assert!(tokens.find(token, Instant::now()).is_some());
            assert!(!std::fs::read_to_string(&path).unwrap().contains(&**token));
        }
        assert_eq!(file.remove("bob", Some(&listed(&bob).id())).unwrap(), 1);
        let tokens = file.read().unwrap();
        assert!(tokens.find(&bob, Instant::now()).is_none() && tokens.find(&again, Instant::now()).is_some());
        assert_eq!((file.remove("bob", None).unwrap(), file.remove("bob", None).unwrap()), (1, 0));
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("# ours\nada "));
        assert_eq!((mode(), std::fs::read_dir(folder.path()).unwrap().count()), (0o640, 1));
    }

    #[test]
    fn a_file_that_others_may_read_or_that_does_not_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let file = TokenFile::at(&path);
        file.add(listed, "ada").unwrap();
        for mode in [0o644, 0o604, 0o660, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = file.read().unwrap_err();
            assert!(error.text().contains("chmod 600"), "{mode:o}: {error}");
            assert_eq!(file.add(listed, "bob").unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "\nada annals_ada_5ec2e7\n").unwrap();
        let error = file.read().unwrap_err();
        assert!(error.text().contains("line 2: expected four fields"), "{error}");
        assert!(!error.to_string().contains("5ec2e7"), "{error}");
    }
}
