//! JSON text of the forms, which answers with hundreds of small texts are made of: a text in which nothing is to be
//! escaped is copied in one piece. What this writer does not know is left to serde_json.

use std::fmt::{self, Display};
use std::io::Write;

use serde::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, Serializer,
};

type Result<T> = std::result::Result<T, Unknown>;

/// Appends the JSON text of a value: the text that serde_json writes.
pub fn append_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    let start = out.len();
    if value.serialize(Writer(out)).is_err() {
        out.truncate(start);
        append_other(value, out);
    }
}

fn append_other(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("all keys are strings, and nothing else can fail");
}

/// Says that a value is of no kind that the forms are made of.
#[derive(Debug)]
struct Unknown;

impl Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a kind of value that forms are made of")
    }
}

impl std::error::Error for Unknown {}

impl serde::ser::Error for Unknown {
    fn custom<T: Display>(_: T) -> Unknown {
        Unknown
    }
}

struct Writer<'o>(&'o mut Vec<u8>);

/// An array or an object that is being written.
struct Parts<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
    end: u8,
}

impl<'o> Writer<'o> {
    #[inline]
    fn literal(self, text: &str) -> Result<()> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    #[inline]
    fn other(self, value: impl Serialize) -> Result<()> {
        append_other(&value, self.0);
        Ok(())
    }

    #[inline]
    fn parts(self, start: u8, end: u8) -> Result<Parts<'o>> {
        self.0.push(start);
        Ok(Parts { out: self.0, is_empty: true, end })
    }
}

impl Parts<'_> {
    #[inline]
    fn next(&mut self) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
    }

    #[inline]
    fn finish(self) -> Result<()> {
        self.out.push(self.end);
        Ok(())
    }
}

macro_rules! left_to_the_library {
    ($($method:ident: $type:ty),*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Result<()> {
            self.other(value)
        })*
    };
}

macro_rules! unknown {
    ($($method:ident($($argument:ty),*) -> $output:ty;)*) => {
        $(fn $method(self $(, _: $argument)*) -> Result<$output> {
            Err(Unknown)
        })*
    };
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Unknown;
    type SerializeSeq = Parts<'o>;
    type SerializeTuple = Parts<'o>;
    type SerializeMap = Parts<'o>;
    type SerializeStruct = Parts<'o>;
    type SerializeTupleStruct = Impossible<(), Unknown>;
    type SerializeTupleVariant = Impossible<(), Unknown>;
    type SerializeStructVariant = Impossible<(), Unknown>;

    left_to_the_library! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_u8: u8,
        serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32, serialize_f64: f64,
        serialize_char: char
    }

    unknown! {
        serialize_bytes(&[u8]) -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.literal(if value { "true" } else { "false" })
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result<()> {
        if !is_plain(text.as_bytes()) {
            return self.other(text);
        }
        self.0.reserve(text.len() + 2);
        self.0.push(b'"');
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'"');
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        let start = self.0.len();
        write!(self.0, "\"{value}").map_err(|_| Unknown)?;
        if is_plain(&self.0[start + 1..]) {
            self.0.push(b'"');
            return Ok(());
        }
        self.0.truncate(start);
        self.other(value.to_string())
    }

    fn serialize_none(self) -> Result<()> {
        self.literal("null")
    }

    fn serialize_unit(self) -> Result<()> {
        self.literal("null")
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Result<()> {
        Err(Unknown)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<()> {
        Err(Unknown)
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'o>> {
        self.parts(b'[', b']')
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Parts<'o>> {
        self.parts(b'[', b']')
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'o>> {
        self.parts(b'{', b'}')
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Parts<'o>> {
        // So serde_json names the numbers of its trees.
        if name.starts_with('$') { Err(Unknown) } else { self.parts(b'{', b'}') }
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.next();
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

impl SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.next();
        let start = self.out.len();
        key.serialize(Writer(self.out))?;
        // Keys that are no strings are the library's business.
        if self.out[start] == b'"' { Ok(()) } else { Err(Unknown) }
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.finish()
    }
}

impl SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    // Names of fields are names in our source: nothing in them is to be escaped.
    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.out.reserve(name.len() + 4);
        self.next();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        value.serialize(Writer(self.out))
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.finish()
    }
}

/// True if nothing in a text is to be escaped: no quote, no backslash, no control character.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let is_plain = |word: &[u8; 8]| is_plain_word(u64::from_ne_bytes(*word));
    // The last word looks again at bytes before it, rather than one by one at those behind the last whole word.
    if let Some(last) = text.last_chunk() {
        return text.as_chunks().0.iter().all(is_plain) && is_plain(last);
    }
    text.iter().all(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
}

// The same of eight bytes at once: bit 7 of a byte of `x - 1` where `x` had none says that it was 0.
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
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn check(value: &(impl Serialize + ?Sized)) {
        let mut text = b"before".to_vec();
        append_json(value, &mut text);
        let expected = format!("before{}", serde_json::to_string(value).unwrap());
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn every_character_is_escaped_wherever_it_stands() {
        for length in 0..20 {
            for at in 0..=length {
                for special in
                    ['"', '\\', '\0', '\t', '\n', '\u{1f}', ' ', '!', '#', '[', ']', '\u{7f}', 'é', '€']
                {
                    let mut text = "x".repeat(length);
                    text.insert(at, special);
                    check(&text);
                    check(&super::super::form::Text(&text));
                    check(&BTreeMap::from([(&text, &text)]));
                }
            }
        }
    }

    struct Fields;

    impl Serialize for Fields {
        fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
            let mut form = to.serialize_struct("Fields", 3)?;
            form.serialize_field("text", "a\"b")?;
            form.serialize_field("list", &[Some(1), None])?;
            form.serialize_field("pair", &(true, 'c'))?;
            form.end()
        }
    }

    #[test]
    fn all_kinds_of_values_read_as_the_library_writes_them() {
        check(&Fields);
        check(&[Fields, Fields]);
        check(&[(); 3]);
        check(&[i64::MIN, 0, i64::MAX]);
        check(&u64::MAX);
        check(&[0.1, 1.0, 1e300, -0.0, f64::NAN]);
        check(&[false, true]);
        check(&BTreeMap::<&str, u8>::new());
        check(&Vec::<u8>::new());
    }

    #[test]
    fn what_it_does_not_know_is_left_to_the_library() {
        check(&json!({ "a": [1, 2.5, null, "x\ny", { "b": true }], "c": u64::MAX }));
        check(&vec![json!({ "a": "b" }), json!(7)]);
        check(&BTreeMap::from([(1, "keys that are numbers"), (2, "become strings")]));
        check(&Ok::<u8, u8>(1));
    }
}
