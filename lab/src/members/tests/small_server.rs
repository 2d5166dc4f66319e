//! A small server in the tests, which understands only what the scripts send.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const CONTAINS: &str = "http://www.w3.org/ns/ldp#contains";

/// Runs until the process ends.
pub struct SmallServer {
    pub address: SocketAddr,
}

/// How it differs from a server that does everything right.
#[derive(Clone, Copy, Default)]
pub struct Manner {
    /// The number of the PATCH that it loses; 0 for none.
    pub lost: usize,
    /// Refuses updates on POST and `rdf:type` of containers, knows only the newer IRI of inbound references, and lists no
    /// memberships among them.
    pub is_fedora6: bool,
    /// Closes a connection that was idle for more than this many requests of the others; 0 for never.
    pub idle_max: usize,
}

#[derive(Default)]
struct Store {
    /// Shape: subject, predicate, object as N-Triples has them.
    triples: Vec<[String; 3]>,
    binaries: HashMap<String, Vec<u8>>,
    /// Of indirect containers. Shape: membership resource, relation, name of the inserted relation.
    indirect: HashMap<String, [String; 3]>,
    made: usize,
    patches: usize,
    requests: usize,
    manner: Manner,
}

struct Request {
    method: String,
    path: String,
    head: String,
    body: Vec<u8>,
}

impl SmallServer {
    /// Starts it.
    pub fn start(manner: Manner) -> SmallServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let store = Arc::new(Mutex::new(Store { manner, ..Store::default() }));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let store = Arc::clone(&store);
                std::thread::spawn(move || serve(BufReader::new(stream.unwrap()), address, &store));
            }
        });
        SmallServer { address }
    }
}

fn serve(mut stream: BufReader<TcpStream>, address: SocketAddr, store: &Mutex<Store>) {
    let mut last = None;
    while let Some(request) = read(&mut stream) {
        if store.lock().unwrap().closes_idle(&mut last) {
            return;
        }
        let (status, location, body) = store.lock().unwrap().answer(&request, &format!("http://{address}"));
        let mut answer = format!("HTTP/1.1 {status} x\r\n").into_bytes();
        if let Some(location) = location {
            answer.extend(format!("Location: {location}\r\n").bytes());
        }
        if request.method == "GET" {
            answer.extend(format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len()).bytes());
            answer.extend(&body);
            answer.extend(b"\r\n0\r\n\r\n");
        } else {
            answer.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
            answer.extend(&body);
        }
        stream.get_mut().write_all(&answer).unwrap();
    }
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.trim_end_matches('/').to_owned());
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(Request { method, path, head, body })
}

impl Store {
    /// Counts a request. `last` is the number of the one before on the same connection.
    fn closes_idle(&mut self, last: &mut Option<usize>) -> bool {
        self.requests += 1;
        let idle = last.replace(self.requests).map_or(0, |last| self.requests - last - 1);
        self.manner.idle_max > 0 && idle > self.manner.idle_max
    }

    /// Shape: status, `Location`, body.
    fn answer(&mut self, request: &Request, host: &str) -> (u16, Option<String>, Vec<u8>) {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let subject = format!("<{host}{}>", request.path);
        match request.method.as_str() {
            _ if request.path.starts_with("/refused") => (409, None, b"not here".to_vec()),
            "PUT" if self.manner.is_fedora6 && text.contains("a ldp:IndirectContainer") => {
                (409, None, b"a type of the server".to_vec())
            }
            "POST" if self.manner.is_fedora6 && request.head.contains("application/sparql-update") => {
                (415, None, b"no format of RDF".to_vec())
            }
            "PUT" => {
                let is_by_link = request.head.contains("Link: <http://www.w3.org/ns/ldp#IndirectContainer>");
                if is_by_link || !self.manner.is_fedora6 {
                    self.become_indirect(&request.path, &text);
                }
                (201, None, Vec::new())
            }
            "POST" => {
                self.made += 1;
                let path = format!("{}/{}", request.path, self.made);
                self.add(&subject, CONTAINS, format!("<{host}{path}>"));
                if request.head.contains("Digest: md5=") {
                    self.binaries.insert(path.clone(), request.body.clone());
                }
                if let Some([resource, relation, inserted]) = self.indirect.get(&request.path).cloned() {
                    let member = between(&text, &format!("{inserted} <"), '>').unwrap();
                    self.add(&format!("<{resource}>"), &relation, format!("<{member}>"));
                    let collection = between(&text, "ore:proxyIn <", '>').unwrap();
                    self.add(&format!("<{host}{path}>"), "http://x/proxyIn", format!("<{collection}>"));
                }
                (201, Some(format!("{host}{path}")), Vec::new())
            }
            "PATCH" => {
                self.patches += 1;
                if self.patches != self.manner.lost {
                    let predicate = between(&text, "<> dc:", ' ').unwrap();
                    let object = between(&text, &format!("dc:{predicate} "), '}').unwrap();
                    self.add(
                        &subject,
                        &format!("http://purl.org/dc/elements/1.1/{predicate}"),
                        object.trim().into(),
                    );
                }
                (204, None, Vec::new())
            }
            _ => {
                let inbound =
                    if self.manner.is_fedora6 { "fcrepo#PreferInbound" } else { "v4/repository#Inbound" };
                let is_inbound = request.head.contains(inbound);
                let is_hidden =
                    |triple: &[String; 3]| self.manner.is_fedora6 && triple[1].contains("memberOf");
                let lines = self.triples.iter().filter(|triple| {
                    triple[0] == subject || is_inbound && triple[2] == subject && !is_hidden(triple)
                });
                let lines: String = lines.map(|[a, b, c]| format!("{a} {b} {c} .\n")).collect();
                let binary = self.binaries.get(&request.path);
                (200, None, binary.cloned().unwrap_or(lines.into_bytes()))
            }
        }
    }

    fn become_indirect(&mut self, path: &str, text: &str) {
        if let Some(resource) = between(text, "ldp:membershipResource <", '>') {
            let relation = between(text, "ldp:hasMemberRelation pcdm:", ' ').unwrap();
            let inserted = between(text, "ldp:insertedContentRelation ", ' ').unwrap();
            let relation = format!("http://pcdm.org/models#{relation}");
            self.indirect.insert(path.into(), [resource, relation, inserted]);
        }
    }

    fn add(&mut self, subject: &str, predicate: &str, object: String) {
        self.triples.push([subject.into(), format!("<{predicate}>"), object]);
    }
}

fn between(text: &str, start: &str, end: char) -> Option<String> {
    Some(text.split_once(start)?.1.split_once(end)?.0.to_owned())
}
