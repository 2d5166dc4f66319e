//! Cursors of clients with grants, sealed: a cursor holds the number of an instance, from which such a client could count the
//! hidden instances before it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::protocol::problem::Problem;

/// A key that lives as long as the process.
pub struct CursorKey(LessSafeKey);

impl Default for CursorKey {
    fn default() -> CursorKey {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &random::<32>());
        CursorKey(LessSafeKey::new(key.expect("the key has the length of the algorithm")))
    }
}

fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

/// The cursors of a client: those of the engine as they are, or sealed.
#[derive(Clone, Copy)]
pub struct Cursors<'k>(pub Option<&'k CursorKey>);

impl Cursors<'_> {
    /// A cursor for the client.
    ///
    /// Shape: a random nonce and the sealed cursor of the engine, in base64.
    pub fn seal(self, cursor: Option<String>) -> Option<String> {
        let (Some(CursorKey(key)), Some(text)) = (self.0, &cursor) else { return cursor };
        let nonce = random::<NONCE_LEN>();
        let mut sealed = text.clone().into_bytes();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .expect("a cursor is short");
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// The cursor of the engine.
    ///
    /// Errors: `invalid-page` for one that this process has not sealed.
    pub fn open(self, cursor: Option<String>) -> Result<Option<String>, Problem> {
        let (Some(key), Some(text)) = (self.0, &cursor) else { return Ok(cursor) };
        match key.opened(text) {
            Some(opened) => Ok(Some(opened)),
            None => {
                let text = "cursor: expected `next` of this query's page before, since the server started; start from the first page";
                Err(annals::Error::new(annals::ErrorKind::InvalidPage, text).into())
            }
        }
    }
}

impl CursorKey {
    fn opened(&self, text: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::empty(), &mut sealed).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_cursor_opens_by_its_own_key_only_and_equal_ones_differ() {
        let (key, other) = (CursorKey::default(), CursorKey::default());
        let (cursors, text) = (Cursors(Some(&key)), Some("0000000000000001000001f9".to_owned()));
        let [one, two] = [cursors.seal(text.clone()), cursors.seal(text.clone())];
        assert!(one != two && one != text);
        assert_eq!(cursors.open(one.clone()).expect("its own"), text);
        assert_eq!(Cursors(None).seal(text.clone()), text);
        let mut forged = one.clone().expect("a cursor").into_bytes();
        forged[20] ^= 1;
        for refused in [text, String::from_utf8(forged).ok(), Some(String::new())] {
            assert_eq!(cursors.open(refused).expect_err("not sealed").kind(), "invalid-page");
        }
        assert!(Cursors(Some(&other)).open(one).is_err());
    }
}
