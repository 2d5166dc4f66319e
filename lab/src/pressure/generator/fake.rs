//! A fake server of the tests: it answers each request with a fixed text, as a test wants it to.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub const RIGHT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright";
pub const FAILED: &str = "HTTP/1.1 500 Failed\r\nContent-Length: 6\r\n\r\nfailed";
pub const BUSY: &str = "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy";

/// Starts a server that runs until the process ends. `answer` gets the number of the request, and may take its time.
pub fn serve(answer: impl Fn(u64) -> Option<&'static str> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, answer, count) = (stream.unwrap(), Arc::clone(&answer), Arc::clone(&count));
            std::thread::spawn(move || answer_all(stream, &*answer, &count));
        }
    });
    address
}

/// Answers until the client closes the connection, or `answer` says to.
fn answer_all(stream: TcpStream, answer: &dyn Fn(u64) -> Option<&'static str>, count: &AtomicU64) {
    stream.set_nodelay(true).unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        match stream.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line != "\r\n" => continue,
            Ok(_) => {}
        }
        let Some(text) = answer(count.fetch_add(1, Ordering::Relaxed)) else { return };
        if stream.get_mut().write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
