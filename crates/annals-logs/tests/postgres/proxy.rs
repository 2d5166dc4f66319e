//! A proxy before the server that loses answers, holds requests back, and cuts connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A proxy on a port of its own.
pub struct Proxy {
    pub port: u16,
    links: Arc<Mutex<Vec<Arc<Link>>>>,
}

/// A connection through the proxy.
struct Link {
    client: TcpStream,
    server: TcpStream,
    loses_answers: AtomicBool,
    holds_requests: AtomicBool,
}

impl Proxy {
    pub fn before(server_port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let links: Arc<Mutex<Vec<Arc<Link>>>> = Arc::default();
        let accepted = Arc::clone(&links);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)) else { continue };
                let (loses_answers, holds_requests) = (AtomicBool::new(false), AtomicBool::new(false));
                let link = Arc::new(Link { client, server, loses_answers, holds_requests });
                accepted.lock().unwrap().push(Arc::clone(&link));
                let other = Arc::clone(&link);
                std::thread::spawn(move || link.send_requests());
                std::thread::spawn(move || other.send_answers());
            }
        });
        Proxy { port, links }
    }

    /// From now on no answer comes through the present connections.
    pub fn lose_answers(&self) {
        self.links.lock().unwrap().iter().for_each(|link| link.loses_answers.store(true, Ordering::SeqCst));
    }

    /// Requests through the present connections wait from now on, also after the client has gone.
    pub fn hold_requests(&self) {
        self.links.lock().unwrap().iter().for_each(|link| link.holds_requests.store(true, Ordering::SeqCst));
    }

    /// The requests that were held back reach the server.
    pub fn release_requests(&self) {
        self.links.lock().unwrap().iter().for_each(|link| link.holds_requests.store(false, Ordering::SeqCst));
    }

    /// Ends the present connections.
    pub fn cut(&self) {
        for link in self.links.lock().unwrap().drain(..) {
            let _ = link.client.shutdown(Shutdown::Both);
            let _ = link.server.shutdown(Shutdown::Both);
        }
    }
}

impl Link {
    fn send_requests(&self) {
        let (mut held, mut piece, mut is_over) = (Vec::new(), vec![0; 1 << 16], false);
        self.client.set_read_timeout(Some(Duration::from_millis(10))).expect("a socket");
        loop {
            if !is_over {
                match (&self.client).read(&mut piece) {
                    Ok(0) => is_over = true,
                    Ok(count) => held.extend_from_slice(&piece[..count]),
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    Err(_) => is_over = true,
                }
            } else {
                std::thread::sleep(Duration::from_millis(10));
            }
            if self.holds_requests.load(Ordering::SeqCst) {
                continue;
            }
            if (&self.server).write_all(&held).is_err() {
                return;
            }
            held.clear();
            if is_over {
                let _ = self.server.shutdown(Shutdown::Write);
                return;
            }
        }
    }

    fn send_answers(&self) {
        let mut piece = vec![0; 1 << 16];
        while let Ok(count @ 1..) = (&self.server).read(&mut piece) {
            if !self.loses_answers.load(Ordering::SeqCst)
                && (&self.client).write_all(&piece[..count]).is_err()
            {
                break;
            }
        }
        let _ = self.client.shutdown(Shutdown::Both);
    }
}
