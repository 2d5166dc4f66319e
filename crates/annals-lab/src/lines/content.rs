//! Binaries over HTTP: stored by one client, compared with the same client that writes and syncs files itself; and read,
//! compared with nginx without `sendfile`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use crate::outcome::Outcome;
use crate::run::{Job, Sample, Server, agree, in_turn, per_second};

/// Units: bytes of a binary.
const BYTES: usize = 1_000_000;
const BINARIES: usize = 200;
const GET_CONNECTIONS: u64 = 8;

/// One round.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let annals = Server::annals(&job.folder.join("repository"))?;
    let mut client = Client::connect(&annals)?;
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
                (first..number).try_for_each(|number| client.put(number))?;
                Ok(per_second(count as u64, start.elapsed()))
            },
            || {
                let start = Instant::now();
                for number in first..number {
                    let mut file = File::create(files.join(number.to_string()))?;
                    file.write_all(&binary(number))?;
                    file.sync_all()?;
                    File::open(&files)?.sync_all()?;
                }
                Ok(per_second(count as u64, start.elapsed()))
            },
        )?;
        samples.push(Sample::new("content-put", ours, limit));
    }
    agree("the last binary", client.get(number - 1)?, binary(number - 1))?;
    let nginx = Server::nginx_reading(&job.folder, "binary", &binary(0))?;
    let seconds = job.size.operations(3, 1) as u64;
    for turn in job.turns(3) {
        let load = |server: &Server, path: &str| {
            let load = server.load(&job.folder, path, None, GET_CONNECTIONS, seconds)?;
            Ok(per_second(load.requests, load.elapsed))
        };
        let (ours, limit) = in_turn(turn, || load(&annals, "/v1/content/b0"), || load(&nginx, "/binary"))?;
        samples.push(Sample::new("content-get", ours, limit));
    }
    Ok(samples)
}

/// A binary that differs from those of other numbers.
fn binary(number: usize) -> Vec<u8> {
    let mut bytes = vec![b'x'; BYTES];
    let text = number.to_string();
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

/// A client on one connection that stays open.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn connect(server: &Server) -> Outcome<Client> {
        let stream = TcpStream::connect(server.address)?;
        stream.set_nodelay(true)?;
        Ok(Client { stream: BufReader::new(stream) })
    }

    fn put(&mut self, number: usize) -> Outcome<()> {
        let bytes = binary(number);
        let head = format!(
            "PUT /v1/content/b{number}?type=binary HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        );
        self.stream.get_mut().write_all(head.as_bytes())?;
        self.stream.get_mut().write_all(&bytes)?;
        self.answer(201).map(drop)
    }

    fn get(&mut self, number: usize) -> Outcome<Vec<u8>> {
        let head = format!("GET /v1/content/b{number} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        self.stream.get_mut().write_all(head.as_bytes())?;
        self.answer(200)
    }

    fn answer(&mut self, expected: u16) -> Outcome<Vec<u8>> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(text) = header.strip_prefix("content-length:") {
                length = text.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        if status != Some(expected) {
            return Err(
                format!("content: expected {expected}, found {}", String::from_utf8_lossy(&body)).into()
            );
        }
        Ok(body)
    }
}
