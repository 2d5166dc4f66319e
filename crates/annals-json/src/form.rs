//! Writes JSON text directly, without a tree of JSON values.

use std::fmt::Display;
use std::io::Write;
use std::ops::Range;

use annals::{Id, Instant, InstantText};
use serde::Serialize;
use serde_json::Value as Json;

/// Most capacity reserved in advance.
const RESERVED_BYTES_MAX: usize = 1 << 20;

/// Capacity for the text of an instance with some properties.
const INSTANCE_BYTES: usize = 512;

/// A value that writes itself as one JSON value.
pub trait Form {
    /// Appends its text.
    fn write(&self, to: &mut JsonText);
}

/// JSON text that is being written.
#[derive(Default)]
pub struct JsonText {
    bytes: Vec<u8>,
    /// The last written instant: the next one is often in the same second.
    instant: Option<InstantText>,
}

/// The members of an object in progress.
pub struct Members<'t> {
    to: &'t mut JsonText,
    is_empty: bool,
}

/// The text of a form.
pub fn json_of(form: &(impl Form + ?Sized)) -> Vec<u8> {
    let mut text = JsonText { bytes: Vec::with_capacity(INSTANCE_BYTES), ..JsonText::default() };
    form.write(&mut text);
    text.bytes
}

/// The tree of a form, to be changed before it is written.
pub fn tree(form: &(impl Form + ?Sized)) -> Json {
    serde_json::from_slice(&json_of(form)).expect("forms write JSON")
}

impl JsonText {
    /// A string. One without escapes is copied in one piece.
    #[inline]
    pub fn text(&mut self, text: &str) {
        if is_plain(text.as_bytes()) { self.plain(text.as_bytes()) } else { self.serialized(text) }
    }

    // A string without escapes.
    #[inline(always)]
    fn plain(&mut self, text: &[u8]) {
        self.bytes.reserve(text.len() + 2);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'"');
    }

    /// The `Display` form, as a string.
    pub fn display(&mut self, value: &impl Display) {
        let start = self.bytes.len();
        write!(self.bytes, "\"{value}\"").expect("memory takes what is written");
        if !is_plain(&self.bytes[start + 1..self.bytes.len() - 1]) {
            self.bytes.truncate(start);
            self.serialized(&value.to_string());
        }
    }

    /// An instant.
    #[inline]
    pub fn instant(&mut self, instant: Instant) {
        let text = self.instant.get_or_insert_with(|| InstantText::new(instant));
        text.set(instant);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(b'"');
    }

    /// The form that serde writes.
    #[inline]
    pub fn serialized(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.bytes, value)
            .expect("all keys are strings, and nothing else can fail");
    }

    /// A text that is JSON already.
    pub fn json(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    /// An array.
    pub fn array<F: Form>(&mut self, forms: impl IntoIterator<Item = F>) {
        self.bytes.push(b'[');
        let mut forms = forms.into_iter();
        if let Some(first) = forms.next() {
            let start = self.bytes.len();
            first.write(self);
            // The others usually have a similar length.
            let rest = (self.bytes.len() - start).saturating_mul(forms.size_hint().0);
            self.bytes.reserve(rest.min(RESERVED_BYTES_MAX));
        }
        for form in forms {
            self.bytes.push(b',');
            form.write(self);
        }
        self.bytes.push(b']');
    }

    /// An object.
    #[inline]
    pub fn object(&mut self, add: impl FnOnce(&mut Members)) {
        self.bytes.push(b'{');
        add(&mut Members { to: self, is_empty: true });
        self.bytes.push(b'}');
    }

    /// The text so far; later text follows it.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Removes and returns the text after the first `length` bytes.
    pub fn split_off(&mut self, length: usize) -> Vec<u8> {
        self.bytes.split_off(length)
    }

    /// Removes the text after the first `length` bytes.
    pub fn cut(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// The length so far. Units: bytes.
    pub fn bytes_count(&self) -> usize {
        self.bytes.len()
    }

    /// Ends a line.
    pub fn end_line(&mut self) {
        self.bytes.push(b'\n');
    }
}

impl Members<'_> {
    /// Adds a member with a name that needs no escapes. Returns the offsets of its value.
    // Inlined, so that the name is stored instead of copied: answers are made of hundreds of short members.
    #[inline(always)]
    pub fn add(&mut self, name: &'static str, form: impl Form) -> Range<usize> {
        self.name(name);
        let start = self.to.bytes.len();
        form.write(self.to);
        start..self.to.bytes.len()
    }

    /// Adds a member with the value at that offset.
    #[inline(always)]
    pub fn add_again(&mut self, name: &'static str, value: Range<usize>) {
        self.name(name);
        self.to.bytes.extend_from_within(value);
    }

    /// Adds a member with any name.
    #[inline]
    pub fn entry(&mut self, name: &str, form: impl Form) {
        self.comma();
        self.to.text(name);
        self.to.bytes.push(b':');
        form.write(self.to);
    }

    #[inline(always)]
    fn name(&mut self, name: &'static str) {
        debug_assert!(is_plain(name.as_bytes()), "{name}");
        self.comma();
        self.to.plain(name.as_bytes());
        self.to.bytes.push(b':');
    }

    #[inline]
    fn comma(&mut self) {
        if !self.is_empty {
            self.to.bytes.push(b',');
        }
        self.is_empty = false;
    }
}

impl<F: Form + ?Sized> Form for &F {
    #[inline]
    fn write(&self, to: &mut JsonText) {
        (**self).write(to);
    }
}

impl<F: Form> Form for Option<F> {
    fn write(&self, to: &mut JsonText) {
        match self {
            Some(form) => form.write(to),
            None => to.serialized(&()),
        }
    }
}

impl<F: Form> Form for [F] {
    fn write(&self, to: &mut JsonText) {
        to.array(self);
    }
}

impl<F: Form> Form for Vec<F> {
    fn write(&self, to: &mut JsonText) {
        to.array(self);
    }
}

impl Form for str {
    #[inline]
    fn write(&self, to: &mut JsonText) {
        to.text(self);
    }
}

impl Form for String {
    fn write(&self, to: &mut JsonText) {
        to.text(self);
    }
}

macro_rules! written_by_the_library {
    ($($form:ty),*) => {
        $(impl Form for $form {
            #[inline]
            fn write(&self, to: &mut JsonText) {
                to.serialized(self);
            }
        })*
    };
}

written_by_the_library!(bool, u32, u64, usize, f64, Json);

impl Form for Id {
    fn write(&self, to: &mut JsonText) {
        to.display(self);
    }
}

impl Form for Instant {
    #[inline]
    fn write(&self, to: &mut JsonText) {
        to.instant(*self);
    }
}

/// An object with the members that a function adds.
pub struct ObjectOf<F>(pub F);

impl<F: Fn(&mut Members)> Form for ObjectOf<F> {
    #[inline]
    fn write(&self, to: &mut JsonText) {
        to.object(&self.0);
    }
}

/// The `Display` form, as a string.
pub struct Text<'a, T>(pub &'a T);

impl<T: Display> Form for Text<'_, T> {
    fn write(&self, to: &mut JsonText) {
        to.display(self.0);
    }
}

/// True if a text needs no escapes: no quote, no backslash, no control character.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let is_plain = |word: &[u8; 8]| is_plain_word(u64::from_ne_bytes(*word));
    // The last word overlaps bytes before it, which is faster than checking the last bytes one by one.
    if let Some(last) = text.last_chunk() {
        return text.as_chunks().0.iter().all(is_plain) && is_plain(last);
    }
    text.iter().all(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
}

// Checks eight bytes together: if `x - 1` has bit 7 of a byte and `x` does not, the byte was 0.
#[inline]
fn is_plain_word(word: u64) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, bound: u8| word.wrapping_sub(EACH * u64::from(bound)) & !word;
    let found = below(word, 0x20)
        | below(word ^ (EACH * u64::from(b'"')), 1)
        | below(word ^ (EACH * u64::from(b'\\')), 1);
    found & (EACH << 7) == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_of(form: impl Form) -> String {
        String::from_utf8(json_of(&form)).unwrap()
    }

    #[test]
    fn every_character_is_escaped_wherever_it_stands() {
        let specials = ['"', '\\', '\0', '\t', '\n', '\u{1f}', ' ', '!', '#', '[', ']', '\u{7f}', 'é', '€'];
        for length in 0..20 {
            for (at, special) in (0..=length).flat_map(|at| specials.map(|special| (at, special))) {
                let mut text = "x".repeat(length);
                text.insert(at, special);
                let expected = serde_json::to_string(&text).unwrap();
                assert_eq!(text_of(&*text), expected);
                assert_eq!(text_of(Text(&text)), expected);
            }
        }
    }

    #[test]
    fn objects_and_arrays_read_back() {
        struct All;
        impl Form for All {
            fn write(&self, to: &mut JsonText) {
                to.object(|members| {
                    let number = members.add("number", u64::MAX);
                    members.add("none", None::<u32>);
                    members.add("list", &[true, false][..]);
                    members.add_again("again", number);
                    members.entry("a \"name\"", json!({ "tree": [1, 2.5] }));
                });
            }
        }
        let expected = json!({
            "number": u64::MAX, "none": null, "list": [true, false], "again": u64::MAX,
            "a \"name\"": { "tree": [1, 2.5] },
        });
        assert_eq!(tree(&All), expected);
        assert_eq!(tree(&vec![Some(All), None]), json!([expected, null]));
        assert_eq!(text_of(Vec::<u32>::new()), "[]");
    }
}
