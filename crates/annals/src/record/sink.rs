//! Writes CBOR into memory.

use std::convert::Infallible;

use minicbor::data::Tag;
use minicbor::encode::{Encode, Error};
use minicbor::{Encoder, bytes::ByteSlice};

use crate::storage::widen;

/// CBOR at the end of a vector of bytes. Shape: each call writes one item, or the head of an array, a map or a tag,
/// whose items follow.
pub(super) struct Sink<'a>(Encoder<&'a mut Vec<u8>>);

impl<'a> Sink<'a> {
    /// Writes at the end of `out`.
    pub(super) fn new(out: &'a mut Vec<u8>) -> Sink<'a> {
        Sink(Encoder::new(out))
    }

    /// A number, a boolean, a text, or the key of an entry.
    pub(super) fn put(&mut self, item: impl Encode<()>) -> &mut Self {
        written(self.0.encode(item));
        self
    }

    pub(super) fn str(&mut self, text: &str) -> &mut Self {
        self.put(text)
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.put(<&ByteSlice>::from(bytes))
    }

    pub(super) fn array(&mut self, items: usize) -> &mut Self {
        written(self.0.array(widen(items)));
        self
    }

    pub(super) fn map(&mut self, entries: usize) -> &mut Self {
        written(self.0.map(widen(entries)));
        self
    }

    pub(super) fn tag(&mut self, number: u64) -> &mut Self {
        self.put(Tag::new(number))
    }

    /// An entry of a map.
    pub(super) fn entry(&mut self, key: impl Encode<()>, item: impl Encode<()>) -> &mut Self {
        self.put(key).put(item)
    }

    /// An entry with a text, if there is one.
    pub(super) fn some_str(&mut self, key: u32, text: Option<impl AsRef<str>>) {
        if let Some(text) = text {
            self.put(key).str(text.as_ref());
        }
    }
}

#[expect(clippy::expect_used, reason = "a vector takes every write, and no item here refuses to be encoded")]
fn written<T>(result: Result<T, Error<Infallible>>) {
    result.map(drop).expect("a vector takes every write");
}
