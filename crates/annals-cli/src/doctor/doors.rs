//! The server that runs, and the port that it listens at.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use annals_server::KnownServer;
use hyper::Uri;

use super::finding::Findings;
use super::patient::Patient;
use crate::place::Place;
use crate::remote::Remote;
use crate::request::Request;

/// A server that has proven that it has the repository open.
struct Running {
    port: u16,
    /// The process.
    process: Option<u32>,
}

/// Looks for the server of the folder, and at the port. Gives the process of the server, if one runs.
pub fn examine(folder: Option<&Path>, patient: &Patient, findings: &mut Findings) -> Option<u32> {
    let running = folder.and_then(|folder| look_for_server(folder, findings));
    let port = running.as_ref().map(|running| running.port);
    if let Some(listen) = patient.options.listen.filter(|listen| listen.port() != 0) {
        examine_port(listen, port == Some(listen.port()), findings);
    }
    running.and_then(|running| running.process)
}

fn look_for_server(folder: &Path, findings: &mut Findings) -> Option<Running> {
    let known = match KnownServer::read(folder) {
        Ok(Some(known)) => known,
        Ok(None) => {
            findings.ok("server", "none runs");
            return None;
        }
        Err(reason) => {
            findings.ok("server", format!("not asked: {reason}"));
            return None;
        }
    };
    let url = known.url.clone();
    let Ok(remote) = Remote::of_folder(known, None) else {
        findings.ok("server", format!("none answers at {url}, where the last one listened"));
        return None;
    };
    let told = Place::Server(Box::new(remote)).ask(Request::get("/")).and_then(|mut answer| answer.whole());
    let told: serde_json::Value = serde_json::from_slice(&told.unwrap_or_default()).unwrap_or_default();
    let own = env!("CARGO_PKG_VERSION");
    match told["version"].as_str() {
        Some(version) if version != own => {
            let text = format!("{url} runs annals {version}, this program is {own}");
            findings.warning("server", text, "restart it after an upgrade: systemctl restart annals");
        }
        Some(version) => findings.ok("server", format!("{url} runs annals {version}")),
        None => findings
            .ok("server", format!("{url} answers, and tells its version to clients with a token only")),
    }
    let port = url.parse::<Uri>().ok()?.port_u16()?;
    Some(Running { port, process: process(folder) })
}

/// The process of the server, as its file tells.
fn process(folder: &Path) -> Option<u32> {
    let told = std::fs::read(folder.join("server.json")).ok()?;
    let told: serde_json::Value = serde_json::from_slice(&told).ok()?;
    told["pid"].as_u64()?.try_into().ok()
}

/// Takes the port for a moment, unless the server has it.
fn examine_port(listen: SocketAddr, is_taken_by_server: bool, findings: &mut Findings) {
    match TcpListener::bind(listen).map(drop) {
        Ok(()) => findings.ok("port", format!("{listen} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_taken_by_server => {
            findings.ok("port", format!("the server listens at {listen}"));
        }
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::AddrInUse => {
                    format!(
                        "find the other program with: ss -ltnp 'sport = :{}'; or listen at another port",
                        listen.port()
                    )
                }
                ErrorKind::AddrNotAvailable => "listen at an address of this machine: ip address".to_owned(),
                _ => "listen at a port from 1024 on, such as 8280, behind a proxy".to_owned(),
            };
            findings.wrong("port", format!("{listen}: {error}"), remedy);
        }
    }
}
