//! A proxy before the service that loses answers, holds requests back, refuses puts, and cuts connections, also those to come.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The state of the way.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Open,
    LosesAnswers,
    HoldsRequests,
    /// Puts are refused, because there is no room.
    IsFull,
}

const NO_ROOM: &[u8] = b"HTTP/1.1 507 Insufficient Storage\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A proxy on a port of its own.
pub struct Proxy {
    pub port: u16,
    way: Arc<Mutex<Way>>,
    clients: Arc<Mutex<Vec<TcpStream>>>,
    told: Arc<AtomicU64>,
}

impl Proxy {
    pub fn before(server_port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let way = Arc::new(Mutex::new(Way::Open));
        let clients: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (ways, accepted) = (Arc::clone(&way), Arc::clone(&clients));
        let told: Arc<AtomicU64> = Arc::default();
        let telling = Arc::clone(&told);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)) else { continue };
                accepted.lock().unwrap().push(client.try_clone().expect("a socket"));
                let (to_server, to_client) =
                    (server.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
                let (held, lost) = (Arc::clone(&ways), Arc::clone(&ways));
                let telling = Arc::clone(&telling);
                std::thread::spawn(move || {
                    pass(client, to_server, &held, Way::HoldsRequests, &AtomicU64::new(0))
                });
                std::thread::spawn(move || pass(server, to_client, &lost, Way::LosesAnswers, &telling));
            }
        });
        Proxy { port, way, clients, told }
    }

    /// The bytes of all answers so far.
    pub fn told_bytes(&self) -> u64 {
        self.told.load(Ordering::SeqCst)
    }

    pub fn set(&self, way: Way) {
        *self.way.lock().unwrap() = way;
    }

    /// Ends the present connections.
    pub fn cut(&self) {
        for client in self.clients.lock().unwrap().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }
}

/// Passes bytes on. Requests that are held back wait, also after the client has gone; answers that are lost are gone.
fn pass(mut from: TcpStream, mut to: TcpStream, way: &Mutex<Way>, stopped: Way, passed: &AtomicU64) {
    let mut piece = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        while stopped == Way::HoldsRequests && *way.lock().unwrap() == stopped {
            std::thread::sleep(Duration::from_millis(5));
        }
        if stopped == Way::HoldsRequests && *way.lock().unwrap() == Way::IsFull && piece.starts_with(b"PUT ")
        {
            let _ = from.write_all(NO_ROOM);
            break;
        }
        let is_lost = stopped == Way::LosesAnswers && *way.lock().unwrap() == stopped;
        if !is_lost && to.write_all(&piece[..count]).is_err() {
            break;
        }
        passed.fetch_add(count as u64, Ordering::SeqCst);
    }
    // The client of a lost answer waits for it.
    if stopped == Way::HoldsRequests || *way.lock().unwrap() != Way::LosesAnswers {
        let _ = to.shutdown(Shutdown::Write);
    }
}
