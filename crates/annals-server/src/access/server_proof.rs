//! The proof by which a server shows a command that it has the folder open: a secret in a file that only their user reads. Of
//! a log in a store, the secret is in the lease of its writer.
//!
//! A command sends a challenge, 256 random bits, and the server answers with HMAC-SHA-256 under its secret of its id, the
//! challenge, and the address at which the connection reached it. A process that listens in place of the server does not
//! know the secret. If it passes the challenge on to the server, the server answers for another address.

use std::fmt::Write as _;
use std::net::SocketAddr;

use annals::log::Token;
use ring::hmac::{HMAC_SHA256, Key, sign, verify};

/// Units: bytes.
const SECRET_BYTES: usize = 32;
/// The digits of secrets, of challenges and of answers.
pub const PROOF_DIGITS: usize = 2 * SECRET_BYTES;
/// The beginning of the text that is signed.
const PURPOSE: &str = "annals server 1";

/// Answers challenges, or checks answers.
pub struct ServerProof(Key);

impl ServerProof {
    /// A new one. Shape: it, and its secret in hexadecimal digits.
    pub fn new() -> (ServerProof, String) {
        let secret = random_digits();
        (ServerProof(Key::new(HMAC_SHA256, secret.as_bytes())), secret)
    }

    /// The one with this secret; `None` for a text that is no secret.
    pub fn of(secret: &str) -> Option<ServerProof> {
        is_digits(secret).then(|| ServerProof(Key::new(HMAC_SHA256, secret.as_bytes())))
    }

    /// The one whose secret is in the lease of a log in a store.
    pub fn of_lease(secret: Token) -> ServerProof {
        ServerProof(Key::new(HMAC_SHA256, format!("{:0width$x}", secret.0, width = PROOF_DIGITS).as_bytes()))
    }

    /// The answer of the server with an id to a challenge that came to an address. Shape: hexadecimal digits.
    pub fn answer(&self, id: &str, challenge: &str, address: SocketAddr) -> String {
        digits(sign(&self.0, text(id, challenge, address).as_bytes()).as_ref())
    }

    /// True for the answer that [`ServerProof::answer`] gives. The comparison takes constant time.
    pub fn is_answer(&self, answer: &str, id: &str, challenge: &str, address: SocketAddr) -> bool {
        let bytes: Option<Vec<u8>> = is_digits(answer)
            .then(|| (0..answer.len()).step_by(2))
            .and_then(|places| places.map(|at| u8::from_str_radix(&answer[at..at + 2], 16).ok()).collect());
        bytes.is_some_and(|bytes| verify(&self.0, text(id, challenge, address).as_bytes(), &bytes).is_ok())
    }
}

/// A new challenge.
pub fn challenge() -> String {
    random_digits()
}

/// True for a text in the form of secrets, challenges and answers.
pub fn is_digits(text: &str) -> bool {
    text.len() == PROOF_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// An id has no line breaks.
fn text(id: &str, challenge: &str, address: SocketAddr) -> String {
    format!("{PURPOSE}\n{id}\n{challenge}\n{}\n{}", address.ip().to_canonical(), address.port())
}

fn random_digits() -> String {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    digits(&bytes)
}

fn digits(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("memory takes what is written");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_of_a_lease_proves_the_same() {
        let (asked, here) = (challenge(), "127.0.0.1:8280".parse().unwrap());
        for secret in [Token(0), Token(7), Token(u128::MAX)] {
            let answer = ServerProof::of_lease(secret).answer("id", &asked, here);
            assert!(ServerProof::of_lease(secret).is_answer(&answer, "id", &asked, here));
            assert!(!ServerProof::of_lease(Token(8)).is_answer(&answer, "id", &asked, here));
        }
    }

    #[test]
    fn an_answer_counts_for_one_secret_id_challenge_and_address() {
        let ((proof, secret), (other, _)) = (ServerProof::new(), ServerProof::new());
        let (asked, at) = (challenge(), |text: &str| text.parse::<SocketAddr>().unwrap());
        let here = at("127.0.0.1:8280");
        let answer = proof.answer("id", &asked, here);
        let known = ServerProof::of(&secret).unwrap();
        assert!(known.is_answer(&answer, "id", &asked, here));
        assert!(known.is_answer(&answer, "id", &asked, at("[::ffff:127.0.0.1]:8280")));
        assert!(!other.is_answer(&answer, "id", &asked, here));
        assert!(!known.is_answer(&answer, "di", &asked, here));
        assert!(!known.is_answer(&answer, "id", &challenge(), here));
        for elsewhere in ["127.0.0.1:8281", "127.0.0.2:8280", "[::1]:8280"] {
            assert!(!known.is_answer(&answer, "id", &asked, at(elsewhere)), "{elsewhere}");
        }
        for wrong in ["", "00", &answer[1..], &"ä".repeat(PROOF_DIGITS / 2)] {
            assert!(!known.is_answer(wrong, "id", &asked, here), "{wrong}");
            assert!(ServerProof::of(wrong).is_none());
        }
    }
}
