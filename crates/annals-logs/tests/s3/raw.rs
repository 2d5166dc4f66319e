//! Looks into a bucket, and changes it, past everything that is tested.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::server::shared;

/// A service that checks no signatures wants to see one.
pub const SIGNED: &str = "Authorization: AWS4-HMAC-SHA256 Credential=annals/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";

/// A bucket of a service that checks no signatures, or that keeps it as a folder.
pub struct RawBucket {
    pub port: u16,
    pub name: String,
}

/// The keys of the files below a folder.
fn keys_below(folder: &Path, beginning: &str, keys: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let key = format!("{beginning}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            // Uploads that the service has not completed.
            true if key.starts_with('.') => {}
            true => keys_below(&entry.path(), &format!("{key}/"), keys),
            false => keys.push(key),
        }
    }
}

impl RawBucket {
    fn folder(&self) -> Option<PathBuf> {
        shared().folder_of(&self.name)
    }

    /// Shape: status and body.
    fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the service");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        let length = body.len();
        let name = &self.name;
        let head = format!(
            "{method} /{name}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{SIGNED}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("a request");
        stream.write_all(body).expect("its body");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|part| part == b"\r\n\r\n").expect("a head");
        let status = String::from_utf8_lossy(&answer[..end]).split_whitespace().nth(1).map(str::to_owned);
        (status.expect("a status").parse().expect("a number"), answer[end + 4..].to_vec())
    }

    /// The keys of all objects that begin with `prefix`.
    pub fn keys(&self, prefix: &str) -> Vec<String> {
        let (mut keys, mut after) = (Vec::new(), String::new());
        if let Some(folder) = self.folder() {
            keys_below(&folder, "", &mut keys);
            keys.retain(|key| key.starts_with(prefix));
            keys.sort();
            return keys;
        }
        loop {
            let path = format!("?list-type=2&prefix={prefix}&start-after={after}");
            let text = String::from_utf8(self.ask("GET", &path, b"").1).expect("text");
            let page = text.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
            let page: Vec<String> = page.map(|(key, _)| key.to_owned()).collect();
            let Some(last) = page.last() else { return keys };
            after.clone_from(last);
            keys.extend(page);
        }
    }

    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        if let Some(folder) = self.folder() {
            return std::fs::read(folder.join(key)).ok();
        }
        let (status, body) = self.ask("GET", &format!("/{key}"), b"");
        (status == 200).then_some(body)
    }

    pub fn put(&self, key: &str, body: &[u8]) {
        match self.folder() {
            Some(folder) => {
                let path = folder.join(key);
                // A new file, because the service keeps the tag of the old one beside it.
                let _ = std::fs::remove_file(&path);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(path, body).expect("an object");
            }
            None => assert_eq!(self.ask("PUT", &format!("/{key}"), body).0, 200, "{key}"),
        }
    }

    pub fn remove(&self, key: &str) {
        match self.folder() {
            Some(folder) => std::fs::remove_file(folder.join(key)).expect("an object"),
            None => assert_eq!(self.ask("DELETE", &format!("/{key}"), b"").0, 204, "{key}"),
        }
    }

    /// The keys of the objects that hold these bytes.
    pub fn holding(&self, bytes: &[u8]) -> Vec<String> {
        let holds = |key: &String| {
            self.get(key).is_some_and(|body| body.windows(bytes.len()).any(|part| part == bytes))
        };
        self.keys("").into_iter().filter(holds).collect()
    }
}
