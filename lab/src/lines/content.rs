//! Binaries over HTTP: stored by one client, compared with the same client that writes and syncs files itself; and read,
//! compared with nginx without `sendfile`.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use crate::outcome::Outcome;
use crate::run::{Client, Job, Place, Request, Sample, Server, agree, in_turn, per_second};

/// Units: bytes of a binary.
const BYTES: usize = 1_000_000;
const BINARIES: usize = 200;
const GET_CONNECTIONS: u64 = 8;

/// One round.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let annals = Server::annals(&job.folder.join("repository"))?;
    let mut client = Client::new(&Place::at(annals.address));
    let count = job.size.operations(BINARIES, 5);
    let mut samples = Vec::new();
    let mut number = 0;
    for turn in job.turns(3) {
        let files = job.folder.join(format!("files-{turn}"));
        std::fs::create_dir_all(&files)?;
        let first = number;
        number += count;
        let (ours, limit) = in_turn(
            turn,
            || {
                let start = Instant::now();
                (first..number).try_for_each(|number| put(&mut client, number))?;
                Ok(per_second(count as u64, start.elapsed()))
            },
            || {
                let start = Instant::now();
                for number in first..number {
                    let mut file = File::create(files.join(number.to_string()))?;
                    file.write_all(binary(number).as_bytes())?;
                    file.sync_all()?;
                    File::open(&files)?.sync_all()?;
                }
                Ok(per_second(count as u64, start.elapsed()))
            },
        )?;
        samples.push(Sample::new("content-put", ours, limit));
    }
    client.send(&Request::json("GET", &path(number - 1), ""))?;
    agree("the last binary", std::str::from_utf8(&client.body)?, &*binary(number - 1))?;
    let nginx = Server::nginx_reading(&job.folder, "binary", binary(0).as_bytes())?;
    let seconds = job.size.operations(3, 1) as u64;
    for turn in job.turns(3) {
        let load = |server: &Server, path: &str| {
            let load = server.load(&job.folder, path, None, GET_CONNECTIONS, seconds)?;
            Ok(per_second(load.requests, load.elapsed))
        };
        let (ours, limit) = in_turn(turn, || load(&annals, &path(0)), || load(&nginx, "/binary"))?;
        samples.push(Sample::new("content-get", ours, limit));
    }
    Ok(samples)
}

/// A binary that differs from those of other numbers.
fn binary(number: usize) -> String {
    let name = number.to_string();
    let filling = "x".repeat(BYTES - name.len());
    name + &filling
}

/// Stores a binary.
fn put(client: &mut Client, number: usize) -> Outcome<()> {
    let path = format!("{}?type=binary", path(number));
    client.send(&Request::json("PUT", &path, &binary(number))).map(drop)
}

/// Where a binary is.
fn path(number: usize) -> String {
    format!("/v1/content/b{number}")
}
