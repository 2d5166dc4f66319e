//! The file that tells commands on the folder of a repository which server has it open.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

/// Its name, in the folder of the repository.
pub const SERVER_FILE: &str = "server.json";

/// The file of a running server. It goes away with the server, unless that is killed; the id then is no server's.
pub struct ServerFile {
    path: PathBuf,
    id: String,
}

impl ServerFile {
    /// Writes it, readable for the owner only.
    ///
    /// Errors: those of the file system.
    pub fn write(folder: &Path, address: SocketAddr, has_tls: bool, id: &str) -> std::io::Result<ServerFile> {
        let file = ServerFile { path: folder.join(SERVER_FILE), id: id.to_owned() };
        let told = json!({ "url": url(address, has_tls), "pid": std::process::id(), "id": id });
        let written = file.path.with_extension("new");
        let mut options = OpenOptions::new();
        let mut opened: File = options.write(true).create(true).truncate(true).mode(0o600).open(&written)?;
        writeln!(opened, "{told}")?;
        std::fs::rename(written, &file.path)?;
        Ok(file)
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        let told = std::fs::read(&self.path).ok().and_then(|text| serde_json::from_slice::<Json>(&text).ok());
        if told.is_some_and(|told| told["id"] == *self.id) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The address for clients on this machine.
fn url(address: SocketAddr, has_tls: bool) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    match has_tls {
        // Certificates name hosts.
        true if ip.is_loopback() => format!("https://localhost:{}", address.port()),
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
