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
        self.some(key, text, |out, text| _ = out.str(text.as_ref()));
    }

    /// An entry with what `write` makes of the item, if there is one.
    pub(super) fn some<T>(&mut self, key: u32, item: Option<T>, write: impl FnOnce(&mut Self, T)) {
        if let Some(item) = item {
            write(self.put(key), item);
        }
    }

    /// An entry with an array of the items, if there are any.
    pub(super) fn some_list<T>(&mut self, key: u32, items: &[T], write: impl FnMut(&mut Self, &T)) {
        if !items.is_empty() {
            self.put(key).list(items, write);
        }
    }

    /// An array of the items, each as `write` writes it.
    pub(super) fn list<I: ExactSizeIterator>(
        &mut self,
        items: impl IntoIterator<IntoIter = I, Item = I::Item>,
        mut write: impl FnMut(&mut Self, I::Item),
    ) {
        let items = items.into_iter();
        self.array(items.len());
        items.for_each(|item| write(self, item));
    }
}

#[expect(clippy::expect_used, reason = "a vector takes every write, and no item here refuses to be encoded")]
fn written<T>(result: Result<T, Error<Infallible>>) {
    result.map(drop).expect("a vector takes every write");
}
