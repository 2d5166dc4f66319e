//! The server of a peer that the lab asks itself: a child process that ends with its cell.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::cell::Cell;
use crate::outcome::Outcome;
use crate::run::{Child, free_address};

/// Longest time until a server answers. PostgreSQL makes its files first, Fedora its database.
const START_TIME_MAX: Duration = Duration::from_secs(180);
/// Longest time that a server takes to end. Then it is killed.
const STOP_TIME_MAX: Duration = Duration::from_secs(20);
/// How often a server that does not answer yet is tried.
const TRY_INTERVAL: Duration = Duration::from_millis(50);

/// A running server. It ends when this is dropped.
pub struct PeerServer {
    child: Child,
    port: u16,
}

impl PeerServer {
    /// Starts the server of the cell's target, with its data in the cell's folder.
    ///
    /// Errors: if it is not installed.
    pub fn start(cell: &Cell) -> Outcome<PeerServer> {
        PeerServer::start_in(cell, &cell.arguments.folder.join("data"))
    }

    /// The same with its data in a folder.
    pub fn start_in(cell: &Cell, data: &Path) -> Outcome<PeerServer> {
        let peer = cell.target.peer.ok_or_else(|| format!("target {}: is no peer", cell.target.name))?;
        let mut command = peer.command(&cell.arguments.peers)?;
        let port = free_address()?.port();
        command.arg(std::path::absolute(data)?).arg(port.to_string());
        // The standard output of the cell is for records.
        command.stdin(Stdio::null()).stdout(std::io::stderr());
        Ok(PeerServer { child: Child::start(cell.target.name, &mut command)?, port })
    }

    /// The number of its process.
    pub fn id(&mut self) -> u32 {
        self.child.process().id()
    }

    /// Connects to the port, as soon as the server answers.
    ///
    /// Errors: if the server ends, and the last one of `connect` if it takes too long.
    pub fn answer<T>(&mut self, mut connect: impl FnMut(u16) -> Outcome<T>) -> Outcome<T> {
        let start = Instant::now();
        loop {
            match connect(self.port) {
                Ok(connected) => return Ok(connected),
                Err(error) => {
                    self.child.check_running()?;
                    if start.elapsed() > START_TIME_MAX {
                        return Err(
                            format!("no answer within {} s: {error}", START_TIME_MAX.as_secs()).into()
                        );
                    }
                }
            }
            std::thread::sleep(TRY_INTERVAL);
        }
    }
}

impl Drop for PeerServer {
    fn drop(&mut self) {
        // PostgreSQL ends its processes at this signal, without waiting for clients. If it fails, the process is gone.
        let _ = kill_process(Pid::from_child(self.child.process()), Signal::INT);
        // A process that still runs is killed.
        let _ = self.child.wait(STOP_TIME_MAX);
    }
}
