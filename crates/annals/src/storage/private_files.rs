//! Files and folders that only their owner may use, whatever the umask says, and files that are opened without a surprise.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::disk::Access;

/// The rights of a file.
const FILE_MODE: u32 = 0o600;
/// The rights of a folder.
const FOLDER_MODE: u32 = 0o700;
/// Rights of users that are neither the owner nor of the group.
const RIGHTS_OF_ALL: u32 = 0o007;
/// The bits of a mode that are rights.
const RIGHTS: u32 = 0o7777;

/// Creates a file for reading and writing.
///
/// Errors: `AlreadyExists` if the name is taken, also by a link.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Creates a file, or empties the one that has the name: for results that a user asks for under a name. A file that is
/// there keeps its rights, and a link is followed.
pub fn create_or_empty(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(path)
}

/// Creates a folder and missing folders above it. One that is there keeps its rights.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
}

/// Creates one folder.
pub(super) fn create_one_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER_MODE).create(folder)
}

/// Opens an existing file. Never waits.
///
/// Errors: `InvalidInput` if the name is that of a link, a pipe, a device or anything else but a file.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    // Order: check the kind before opening. Opening a device may do something.
    check_is_file(&std::fs::symlink_metadata(path)?)?;
    let way = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
    };
    open_with(path, way)
}

/// Opens the file of a lock, and creates it if it is missing. Only its owner can open it afterwards, so that no reader
/// takes the lock.
pub(super) fn open_lock(path: &Path) -> io::Result<File> {
    let file = open_with(path, OFlags::WRONLY | OFlags::CREATE)?;
    if file.metadata()?.mode() & RIGHTS != FILE_MODE {
        // A file that an earlier version made. Users that do not own it leave it as it is.
        let _ = file.set_permissions(Permissions::from_mode(FILE_MODE));
    }
    Ok(file)
}

/// Takes the rights of all users from a folder that an earlier version made: they could open it, and so could lock it.
/// The rights of its group stay.
pub(super) fn close_to_others(folder: &File) {
    let Ok(known) = folder.metadata() else { return };
    if known.mode() & RIGHTS_OF_ALL != 0 {
        // Users that do not own it leave it as it is.
        let _ = folder.set_permissions(Permissions::from_mode(known.mode() & RIGHTS & !RIGHTS_OF_ALL));
    }
}

fn open_with(path: &Path, way: OFlags) -> io::Result<File> {
    let way = way | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, way, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        Err(error) => {
            // The kind of what is there tells more than the error.
            std::fs::symlink_metadata(path).map_or(Ok(()), |known| check_is_file(&known))?;
            return Err(error.into());
        }
    };
    check_is_file(&file.metadata()?)?;
    Ok(file)
}

fn check_is_file(known: &std::fs::Metadata) -> io::Result<()> {
    let kind = known.file_type();
    let found = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_symlink() => "a link",
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    let text = format!("expected a regular file, found {found} under its name");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

#[cfg(test)]
mod tests {
    use super::super::{Disk, RealDisk};
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn files_and_folders_are_for_their_owner() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        RealDisk.create_folder(&folder).unwrap();
        RealDisk.create(&folder.join("file")).unwrap();
        RealDisk.create_unnamed(&place.path().join("spill/x")).unwrap();
        let _lock = RealDisk.lock(&folder.join("lock")).unwrap().unwrap();
        create_or_empty(&folder.join("result")).unwrap();
        for folder in ["a", "a/b", "spill", "spill/x"] {
            assert_eq!(mode(&place.path().join(folder)), 0o700, "{folder}");
        }
        for file in ["file", "lock", "result"] {
            assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
        }
    }

    /// A user who may only read the folder of an earlier version locked it, and no writer came in.
    #[test]
    fn a_writer_takes_the_lock_of_an_earlier_version_from_other_users() {
        let place = tempfile::tempdir().unwrap();
        let (folder, path) = (place.path().to_owned(), place.path().join("lock"));
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let _lock = RealDisk.lock(&path).unwrap().unwrap();
        assert_eq!((mode(&folder), mode(&path)), (0o750, 0o600));
    }

    #[test]
    fn links_pipes_and_devices_are_no_files() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("nothing", at("lost")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        open(&at("file"), Access::Write).unwrap();
        for (name, kind) in [
            ("folder", "a folder"),
            ("link", "a link"),
            ("lost", "a link"),
            ("zero", "a link"),
            ("socket", "a socket"),
            ("pipe", "a pipe"),
        ] {
            for opened in [
                open(&at(name), Access::Read).map(drop),
                open(&at(name), Access::Write).map(drop),
                RealDisk.lock(&at(name)).map(drop),
                RealDisk.is_locked(&at(name)).map(drop),
            ] {
                let error = opened.unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}: {error}");
                assert!(error.to_string().contains(kind), "{name}: {error}");
            }
        }
        assert!(!at("nothing").exists());
        assert!(open(Path::new("/dev/null"), Access::Read).unwrap_err().to_string().contains("a device"));
        assert_eq!(create(&at("lost")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
