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

/// So long a thread stays with one connection, at most, before it looks after the others.
pub const STAY_TIME_MAX: Duration = Duration::from_millis(2);

/// Whether, and since when, the next request of a connection is looked for.
pub struct Linger {
    /// So long it is looked for. Zero: not at all.
    time: Duration,
    // When the last bytes of an answer went out, unless bytes came in since.
    answered: Option<Clock>,
    // The last request came within `time`.
    is_quick: bool,
    // The turn in which the thread stays with this connection, and since when.
    stay: Option<(u64, Clock)>,
}

impl Linger {
    /// For a new connection.
    pub fn new(time: Duration) -> Linger {
        Linger { time, answered: None, is_quick: false, stay: None }
    }

    /// Notes when bytes went out, or that none could: then the client still has to read, and nothing comes from it.
    pub fn note_write(&mut self, done: Option<Clock>) {
        self.answered = done;
    }

    /// Notes that bytes came in.
    pub fn note_read(&mut self, now: Clock) {
        if let Some(answered) = self.answered.take() {
            self.is_quick = now.saturating_duration_since(answered) < self.time;
        }
    }

    /// True if it pays to look.
    pub fn is_hopeful(&self) -> bool {
        self.is_quick && self.answered.is_some()
    }

    /// Looks at the socket, on which nothing has come, until something does or it is time to wait for it. `turn` counts
    /// how often the thread has come from other work to this connection.
    pub fn look(&mut self, stream: &TcpStream, turn: u64, buffer: &mut ReadBuf) -> Poll<io::Result<()>> {
        let Some(answered) = self.answered else { return Poll::Pending };
        let stay = match self.stay {
            Some((known, since)) if known == turn => since,
            _ => Clock::now(),
        };
        self.stay = Some((turn, stay));
        let socket = SockRef::from(stream);
        loop {
            match (&*socket).read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            self.is_quick = answered.elapsed() < self.time;
            if !self.is_quick || stay.elapsed() >= STAY_TIME_MAX {
                return Poll::Pending;
            }
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What a look found: how many bytes, if it did not give up.
    fn look(linger: &mut Linger, stream: &TcpStream, turn: u64) -> Option<usize> {
        let mut bytes = [0; 16];
        let mut buffer = ReadBuf::new(&mut bytes);
        linger.look(stream, turn, &mut buffer).is_ready().then(|| buffer.filled().len())
    }

    /// A connection whose client was quick, and has its answer.
    fn quick(time: Duration) -> (Linger, std::net::TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let mut linger = Linger::new(time);
        linger.note_write(Some(Clock::now()));
        linger.note_read(Clock::now());
        linger.note_write(Some(Clock::now()));
        (linger, client, TcpStream::from_std(server).unwrap())
    }

    #[tokio::test]
    async fn what_has_come_is_found_however_late_the_look_is() {
        let (mut linger, mut client, server) = quick(Duration::from_secs(60));
        assert!(linger.is_hopeful());
        io::Write::write_all(&mut client, b"again").unwrap();
        std::thread::sleep(STAY_TIME_MAX);
        assert_eq!(look(&mut linger, &server, 1), Some(5));
        linger.note_read(Clock::now());
        linger.note_write(Some(Clock::now()));
        assert!(linger.is_hopeful());
    }

    #[tokio::test]
    async fn a_client_that_takes_its_time_is_not_looked_for_again() {
        let (mut linger, _client, server) = quick(Duration::from_secs(60));
        linger.time = Duration::from_micros(1);
        std::thread::sleep(linger.time);
        assert_eq!(look(&mut linger, &server, 1), None);
        linger.note_read(Clock::now());
        linger.note_write(Some(Clock::now()));
        assert!(!linger.is_hopeful());
    }

    #[tokio::test]
    async fn a_thread_stays_for_a_bounded_time_in_each_turn() {
        let (mut linger, _client, server) = quick(Duration::from_secs(60));
        let start = Clock::now();
        assert_eq!(look(&mut linger, &server, 1), None);
        assert!(start.elapsed() >= STAY_TIME_MAX);
        assert!(linger.is_hopeful(), "it may come yet");
        let (_, since) = linger.stay.unwrap();
        assert_eq!(look(&mut linger, &server, 1), None);
        assert_eq!(linger.stay, Some((1, since)), "the same stay");
        assert_eq!(look(&mut linger, &server, 2), None);
        assert!(linger.stay.unwrap().1 > since, "a stay of its own");
    }

    #[test]
    fn nobody_is_looked_for_whose_answer_is_not_out() {
        let mut linger = Linger::new(Duration::from_secs(60));
        linger.note_write(Some(Clock::now()));
        linger.note_read(Clock::now());
        linger.note_write(Some(Clock::now()));
        linger.note_write(None);
        assert!(!linger.is_hopeful());
    }
}
