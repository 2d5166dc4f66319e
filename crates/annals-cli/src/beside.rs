//! The server beside which a command works: it has the folder open, or writes to the log, so that the command asks it.

use std::path::Path;

use annals::{Error, Result};
use annals_logs::LogPlace;
use annals_server::KnownServer;

use crate::context::Global;
use crate::remote::Remote;

/// The server that has a locked folder open, if its file there tells how to ask it, and if it proves to be that one.
///
/// Errors: the one that the folder is locked, with the reason why no server is asked; those of the token.
pub fn server_of_folder(folder: &Path, global: &Global, locked: Error) -> Result<Remote> {
    let known = match KnownServer::read(folder) {
        Ok(Some(known)) => known,
        Ok(None) => return Err(locked),
        Err(reason) => return Err(unasked(locked, reason)),
    };
    let url = known.url.clone();
    // The file may be that of a server that was killed, and any process may listen there now.
    match Remote::of_folder(known, global.ca_file.as_deref()) {
        Ok(remote) => with_token(remote, &url, global),
        Err(reason) => Err(unasked(locked, reason)),
    }
}

/// The server that writes to a log in a store. Otherwise why none is asked; empty if nobody holds the lease.
///
/// Errors: `NotFound` if there is no log; those of asking its store, and of the token.
pub fn server_of_log(log: &LogPlace, global: &Global) -> Result<std::result::Result<Remote, String>> {
    let Some(holder) = log.writer()?.filter(|_| !global.is_local) else { return Ok(Err(String::new())) };
    match Remote::of_lease(&holder, global.ca_file.as_deref()) {
        Ok(remote) => with_token(remote, &holder.address, global).map(Ok),
        Err(reason) => Ok(Err(reason)),
    }
}

/// The error of a repository that another program writes, with the reason why that one is not asked.
pub fn unasked(locked: Error, reason: String) -> Error {
    match reason.is_empty() {
        true => locked,
        false => locked.with("no server is asked", reason),
    }
}

fn with_token(remote: Remote, url: &str, global: &Global) -> Result<Remote> {
    match global.token_for_folder(url)? {
        Some(token) => remote.with_token(&token),
        None => Ok(remote),
    }
}
