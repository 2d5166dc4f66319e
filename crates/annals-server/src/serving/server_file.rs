//! The file that tells commands on the folder of a repository which server has it open, and the secret by which that
//! server proves it.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use annals::LeaseHolder;
use annals::storage::{Access, private_files};
use rustix::process::geteuid;
use serde_json::{Value as Json, json};

use crate::access::{ServerProof, challenge};
use crate::protocol::machine::is_this_machine;

/// Its name, in the folder of the repository.
const SERVER_FILE: &str = "server.json";
/// Longest file. Units: bytes.
const BYTES_MAX: u64 = 16 << 10;
/// Rights that only the owner of a file may have.
const RIGHTS_OF_OTHERS: u32 = 0o077;
/// The right of all users to write.
const WRITTEN_BY_ALL: u32 = 0o002;

/// The file of a running server. It goes away with the server, unless that is killed; the secret then is no server's.
pub struct ServerFile {
    path: PathBuf,
    id: String,
}

impl ServerFile {
    /// Writes it, readable for the owner only.
    ///
    /// Errors: those of the file system.
    pub fn write(folder: &Path, url: &str, id: &str, secret: &str) -> std::io::Result<ServerFile> {
        let file = ServerFile { path: folder.join(SERVER_FILE), id: id.to_owned() };
        let told = json!({ "url": url, "pid": std::process::id(), "id": id, "secret": secret });
        let written = file.path.with_extension("new");
        // A server that was killed may have left it. Whatever has the name now is not written to, also through no link.
        match std::fs::remove_file(&written) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        writeln!(private_files::create(&written)?, "{told}")?;
        std::fs::rename(written, &file.path)?;
        Ok(file)
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        if read(&self.path).is_ok_and(|told| told.is_some_and(|told| told["id"] == *self.id)) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The server that has a folder open, as its file tells; or that writes to a log in a store, as the lease tells.
pub struct KnownServer {
    /// The address, on this machine.
    pub url: String,
    /// `None` if only its secret is known.
    id: Option<String>,
    proof: ServerProof,
}

impl KnownServer {
    /// Reads the file of the server that has this folder open; `None` if there is no such file.
    ///
    /// Errors: a sentence with what was expected and found, for a file that is not this user's own, that others may read
    /// or write, or that does not read. Never waits.
    pub fn read(folder: &Path) -> Result<Option<KnownServer>, String> {
        let path = folder.join(SERVER_FILE);
        let Some(told) = read(&path)? else { return Ok(None) };
        let above = std::fs::metadata(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        if above.uid() != geteuid().as_raw() || above.mode() & WRITTEN_BY_ALL != 0 {
            return Err(format!(
                "{}: expected a folder of this user that others cannot write, found another one; name the server with \
                 --server",
                folder.display()
            ));
        }
        let text = |name: &str| told[name].as_str().map(str::to_owned);
        let known = || Some((text("url")?, text("id")?, ServerProof::of(told["secret"].as_str()?)?));
        let (url, id, proof) = known().ok_or_else(|| {
            format!(
                "{}: expected the url, id and secret of a server, found other text; if its server is of an earlier version, \
                 start it again, or name it with --server",
                path.display()
            )
        })?;
        Ok(Some(KnownServer { url, id: Some(id), proof }))
    }

    /// The server that writes to a log in a store.
    pub fn of_lease(holder: &LeaseHolder) -> KnownServer {
        let proof = ServerProof::of_lease(holder.secret);
        KnownServer { url: holder.address.clone(), id: None, proof }
    }

    /// A challenge to it.
    pub fn challenge(&self) -> String {
        challenge()
    }

    /// True if the server that a command reached at an address, and that names itself `id`, has given the right answer to a
    /// challenge.
    pub fn is_proven(&self, id: &str, answer: &str, challenge: &str, address: SocketAddr) -> bool {
        self.proof.is_answer(answer, self.id.as_deref().unwrap_or(id), challenge, address)
    }
}

/// Reads the file, if it is one of this user that others cannot use.
fn read(path: &Path) -> Result<Option<Json>, String> {
    let refused = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = match private_files::open(path, Access::Read) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(refused)?,
    };
    let known = file.metadata().map_err(refused)?;
    if known.uid() != geteuid().as_raw() || known.mode() & RIGHTS_OF_OTHERS != 0 {
        return Err(format!(
            "{}: expected a file of this user that others cannot read or write, found user {} and mode {:04o}; run the command \
             as the user of the server, or name the server with --server",
            path.display(),
            known.uid(),
            known.mode() & 0o7777
        ));
    }
    let mut text = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut text).map_err(refused)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(format!("{}: expected at most {BYTES_MAX} bytes, found more", path.display()));
    }
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|_| format!("{}: expected JSON, found other text", path.display()))
}

/// The address for clients on this machine.
pub fn url(address: SocketAddr, has_tls: bool) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    match has_tls {
        // Certificates name hosts.
        true if is_this_machine(ip) => format!("https://localhost:{}", address.port()),
        true => format!("https://{}", SocketAddr::new(ip, address.port())),
        false => format!("http://{}", SocketAddr::new(ip, address.port())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_one_of_this_machine() {
        let told = |address: &str, has_tls| url(address.parse().unwrap(), has_tls);
        assert_eq!(told("0.0.0.0:80", false), "http://127.0.0.1:80");
        assert_eq!(told("[::]:80", false), "http://[::1]:80");
        assert_eq!(told("127.0.0.1:80", true), "https://localhost:80");
        assert_eq!(told("10.0.0.7:80", true), "https://10.0.0.7:80");
    }
}
