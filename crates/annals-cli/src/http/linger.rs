//! Looks at a socket for a short time before it is waited for.
//!
//! A client that sends its next request as soon as it has the answer to the last one otherwise waits, every time, until
//! a core that went to sleep has woken again. It is done for a client that has the server to itself and whose last
//! request came as quickly, for a bounded time, and not where there is one core only: the client needs it.

use std::io::{self, ErrorKind, Read};
use std::task::Poll;
use std::time::{Duration, Instant as Clock};

use socket2::SockRef;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;

use super::traffic::Traffic;

/// So long a thread stays with one connection, at most, before it looks after the others.
const STAY_TIME_MAX: Duration = Duration::from_millis(2);

/// Whether, and since when, the next request of a connection is looked for.
pub struct Linger {
    /// So long it is looked for. Zero: not at all.
    time: Duration,
    connection: u64,
    // When the last bytes of an answer went out, unless bytes came in since.
    answered: Option<Clock>,
    // The last request came within `time`.
    is_quick: bool,
    // Since when the thread stays with this connection.
    stays: Option<Clock>,
}

impl Linger {
    /// For the connection of this number.
    pub fn new(time: Duration, connection: u64) -> Linger {
        let has_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let time = if has_cores { time } else { Duration::ZERO };
        Linger { time, connection, answered: None, is_quick: false, stays: None }
    }

    /// Notes that bytes went out, or that none could: then the client still has to read, and nothing comes from it.
    pub fn note_write(&mut self, is_done: bool) {
        self.answered = is_done.then(Clock::now);
    }

    /// Notes that bytes came in.
    pub fn note_read(&mut self, traffic: &Traffic) {
        traffic.note_connection(self.connection);
        if let Some(answered) = self.answered.take() {
            self.is_quick = answered.elapsed() < self.time;
        }
    }

    /// Looks at the socket, on which nothing has come, until something does or it is time to wait for it.
    pub fn look(
        &mut self,
        stream: &TcpStream,
        traffic: &Traffic,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let Some(answered) = self.answered.filter(|_| self.is_quick && traffic.is_sole(self.connection))
        else {
            self.stays = None;
            return Poll::Pending;
        };
        let stays = *self.stays.get_or_insert(answered);
        let socket = SockRef::from(stream);
        while answered.elapsed() < self.time && stays.elapsed() < STAY_TIME_MAX {
            match (&*socket).read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.is_quick = answered.elapsed() < self.time;
        self.stays = None;
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream as Client};

    use super::*;
    use crate::http::traffic::SOLE_TIME;

    const TIME: Duration = Duration::from_millis(100);

    /// Looks once for a request; how long that took, and how many bytes came.
    fn look(linger: &mut Linger, stream: &TcpStream, traffic: &Traffic) -> (Duration, Option<usize>) {
        let mut bytes = [0; 16];
        let mut buffer = ReadBuf::new(&mut bytes);
        let start = Clock::now();
        let poll = linger.look(stream, traffic, &mut buffer);
        let came = poll.is_ready().then(|| buffer.filled().len());
        (start.elapsed(), came)
    }

    /// A connection whose client had the server to itself and was quick.
    fn quick() -> (Traffic, Linger, Client, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let traffic = Traffic::default();
        let linger = Linger { time: TIME, connection: 1, answered: None, is_quick: true, stays: None };
        traffic.note_connection(1);
        std::thread::sleep(SOLE_TIME + Duration::from_millis(20));
        (traffic, linger, client, server)
    }

    #[tokio::test]
    async fn the_next_request_of_a_quick_client_is_found_without_waiting() {
        let (traffic, mut linger, mut client, server) = quick();
        let server = TcpStream::from_std(server).unwrap();
        linger.note_write(true);
        std::io::Write::write_all(&mut client, b"again").unwrap();
        assert_eq!(look(&mut linger, &server, &traffic).1, Some(5));
        linger.note_read(&traffic);
        assert!(linger.is_quick);
    }

    #[tokio::test]
    async fn a_client_that_takes_its_time_is_not_looked_for_again() {
        let (traffic, mut linger, _client, server) = quick();
        let server = TcpStream::from_std(server).unwrap();
        linger.time = Duration::from_micros(100);
        linger.note_write(true);
        std::thread::sleep(linger.time);
        assert_eq!(look(&mut linger, &server, &traffic).1, None);
        assert!(!linger.is_quick);
        linger.note_read(&traffic);
        assert!(!linger.is_quick, "it came late");
    }

    #[tokio::test]
    async fn a_thread_does_not_stay_for_ever_nor_where_others_are_or_an_answer_is_still_read() {
        let (traffic, mut linger, _client, server) = quick();
        let server = TcpStream::from_std(server).unwrap();
        linger.note_write(true);
        let (taken, came) = look(&mut linger, &server, &traffic);
        assert_eq!(came, None);
        assert!((STAY_TIME_MAX / 2..TIME).contains(&taken), "{taken:?}");
        assert!(linger.is_quick, "it may come yet");
        linger.note_write(false);
        assert!(look(&mut linger, &server, &traffic).0 < STAY_TIME_MAX / 2);
        traffic.note_connection(2);
        linger.note_write(true);
        assert!(look(&mut linger, &server, &traffic).0 < STAY_TIME_MAX / 2);
    }
}
