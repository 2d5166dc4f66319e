//! The files of a repository: whether it is there, whose they are, and who else may use them.

use std::fs::FileType;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::finding::Findings;

/// So many files are looked at. Units: files and folders.
const ENTRIES_MAX: usize = 100_000;
/// The rights of users that are neither the owner nor of the group.
const RIGHTS_OF_ALL: u32 = 0o007;
/// Folders that may be links, to have data on another disk.
const MAY_BE_LINKS: [&str; 3] = ["log", "content", "checkpoints"];

/// The files that are not as they should be: the first of each kind, and how many.
#[derive(Default)]
struct Faults {
    foreign: Vec<PathBuf>,
    open: Vec<PathBuf>,
    odd: Vec<PathBuf>,
    unread: Vec<PathBuf>,
}

/// Looks at the files of a repository, which should be those of `user`, or else of the owner of the folder. True if there
/// is a repository.
pub fn examine(folder: &Path, user: Option<u32>, findings: &mut Findings) -> bool {
    let shown = folder.display();
    let create =
        format!("correct the name, or create it once, as its user: echo '[]' | annals -r {shown} apply -");
    let known = match std::fs::metadata(folder) {
        Ok(known) if known.is_dir() => known,
        Ok(_) => {
            findings.wrong("repository", format!("{shown}: expected a folder, found a file"), create);
            return false;
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            findings.wrong("repository", format!("{shown}: there is none"), create);
            return false;
        }
        Err(error) => {
            let text = format!("{shown}: {error}");
            findings.wrong("repository", text, "ask as root, or as the user of the server");
            return false;
        }
    };
    if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        findings.wrong("repository", format!("{shown}: the folder is empty"), create);
        return false;
    }
    let owner = user.unwrap_or(known.uid());
    let (faults, looked) = look(folder, owner);
    let few = if looked < ENTRIES_MAX { "" } else { ", and looked no further" };
    let first = |paths: &[PathBuf]| format!("{} and {} more", paths[0].display(), paths.len() - 1);
    if !faults.foreign.is_empty() {
        let text = format!("expected files of user {owner}, found others: {}", first(&faults.foreign));
        let change = format!("chown -R {owner} {shown}; run commands there as that user");
        findings.wrong("rights", text, change);
    }
    if !faults.odd.is_empty() {
        let text = format!("expected regular files, found links or others: {}", first(&faults.odd));
        findings.wrong("rights", text, "put the files themselves there; only whole folders may be links");
    }
    if !faults.open.is_empty() {
        let text = format!("all users of the machine may use {}", first(&faults.open));
        findings.warning("rights", text, format!("chmod -R o= {shown}"));
    }
    if !faults.unread.is_empty() {
        let text = format!("cannot be looked at: {}", first(&faults.unread));
        findings.wrong("rights", text, "ask as root, or as the user of the server");
    }
    if findings.is_well("rights") {
        findings.ok("rights", format!("{shown}: {looked} files and folders of user {owner}{few}"));
    }
    true
}

/// The faults of the files of a repository, and how many files were looked at.
fn look(folder: &Path, owner: u32) -> (Faults, usize) {
    let (mut faults, mut looked) = (Faults::default(), 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else {
            faults.unread.push(next);
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            looked += 1;
            if looked >= ENTRIES_MAX {
                return (faults, looked);
            }
            let may_be_link = next == folder && MAY_BE_LINKS.iter().any(|name| path.ends_with(name));
            let known = if may_be_link { std::fs::metadata(&path) } else { std::fs::symlink_metadata(&path) };
            // A file may go away while the folder is listed.
            let Ok(known) = known else { continue };
            if known.uid() != owner {
                faults.foreign.push(path.clone());
            }
            let is_kept = |kind: FileType| kind.is_file() || kind.is_dir();
            if !is_kept(known.file_type()) {
                faults.odd.push(path.clone());
            } else if known.permissions().mode() & RIGHTS_OF_ALL != 0 {
                faults.open.push(path.clone());
            }
            if known.is_dir() {
                folders.push(path);
            }
        }
    }
    (faults, looked)
}
