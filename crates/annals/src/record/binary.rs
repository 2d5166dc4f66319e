//! Literals with a language or a datatype, and binaries, as CBOR.

use std::sync::Arc;

use minicbor::Decoder;

use super::sink::Sink;
use super::value::{Read, array, index, malformed, map, room, skip_rest};
use super::{content_key, tag};
use crate::model::{Content, Digest, DigestAlgorithm, Literal, Meaning, Sha256, Value};

pub(super) fn encode_literal(out: &mut Sink, literal: &Literal) {
    let number = match literal.meaning() {
        Meaning::Language(_) => tag::LANGUAGE,
        Meaning::Datatype(_) => tag::DATATYPE,
    };
    out.tag(number).array(2).str(literal.meaning().text()).str(literal.text());
}

pub(super) fn decode_literal(input: &mut Decoder, number: u64) -> Read<Value> {
    let parts = array(input)?;
    if parts < 2 {
        return Err(malformed("a literal lacks its text"));
    }
    let (meaning, text) = (input.str()?, input.str()?);
    skip_rest(input, parts, 2)?;
    let literal = if number == tag::LANGUAGE {
        Literal::in_language(text, meaning)
    } else {
        Literal::with_datatype(text, meaning)
    };
    literal.map(Value::from).map_err(|_| malformed("a literal has no such language or datatype"))
}

pub(super) fn encode_content(out: &mut Sink, content: &Content) {
    let Content { sha256, size, media_type, name, digests } = content;
    let entries = 3 + usize::from(name.is_some()) + usize::from(!digests.is_empty());
    out.tag(tag::CONTENT)
        .map(entries)
        .put(content_key::SHA256)
        .bytes(&sha256.0)
        .entry(content_key::SIZE, *size)
        .put(content_key::MEDIA_TYPE)
        .str(media_type);
    out.some_str(content_key::NAME, name.as_ref());
    if !digests.is_empty() {
        out.put(content_key::DIGESTS).map(digests.len());
        for digest in digests {
            let code = super::value::code_of(&DigestAlgorithm::ALL, digest.algorithm());
            out.put(code).bytes(digest.bytes());
        }
    }
}

pub(super) fn decode_content(input: &mut Decoder) -> Read<Value> {
    let (mut sha256, mut size, mut media_type, mut name) = (None, None, None, None);
    let mut digests: Box<[Digest]> = Box::default();
    for _ in 0..map(input)? {
        match input.u32()? {
            content_key::SHA256 => sha256 = input.bytes()?.try_into().ok().map(Sha256),
            content_key::SIZE => size = Some(input.u64()?),
            content_key::MEDIA_TYPE => media_type = Some(input.str()?.into()),
            content_key::NAME => name = Some(input.str()?.into()),
            content_key::DIGESTS => digests = decode_digests(input)?,
            _ => input.skip()?,
        }
    }
    let (Some(sha256), Some(size), Some(media_type)) = (sha256, size, media_type) else {
        return Err(malformed("a content lacks its digest, size or media type"));
    };
    Ok(Value::Content(Arc::new(Content { sha256, size, media_type, name, digests })))
}

fn decode_digests(input: &mut Decoder) -> Read<Box<[Digest]>> {
    let length = map(input)?;
    let mut digests = Vec::with_capacity(room(length));
    for _ in 0..length {
        // A later version may know more algorithms; their digests are left out.
        let algorithm = DigestAlgorithm::ALL.get(index(input.u32()?)).copied();
        let bytes = input.bytes()?;
        if let Some(algorithm) = algorithm {
            digests
                .push(Digest::new(algorithm, bytes).map_err(|_| malformed("a digest has another length"))?);
        }
    }
    Ok(digests.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::value::{decode_value, encode_value};

    fn encoded(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_value(&mut Sink::new(&mut bytes), value);
        bytes
    }

    fn bytes_of(hex: &str) -> Vec<u8> {
        hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    #[test]
    fn the_content_of_the_page_is_its_bytes() {
        let page = include_str!("../../../../docs/formats.md");
        let row = page.lines().find(|line| line.starts_with("| content |")).expect("the page has the kind");
        let shown = row.split('`').nth(1).expect("the row has bytes");
        let digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let mut content = Content {
            sha256: Sha256::parse(digits).unwrap(),
            size: 0,
            media_type: "a/b".into(),
            name: None,
            digests: Box::default(),
        };
        assert_eq!(encoded(&content.clone().into()), bytes_of(shown));
        // A name and a digest come behind it.
        content.name = Some("n".into());
        content.digests = [Digest::new(DigestAlgorithm::Md5, &[0xFF; 16]).unwrap()].into();
        let longer = shown.replace("63 A3 00", "63 A5 00") + " 03 61 6E 04 A1 00 50" + &" FF".repeat(16);
        assert_eq!(encoded(&content.into()), bytes_of(&longer));
    }

    #[test]
    fn literals_and_contents_that_cannot_be_are_refused() {
        for hex in [
            // No text, a language that is none, a datatype that is none.
            "D8 26 81 62 66 72",
            "D8 26 82 62 66 20 64 63 68 61 74",
            "DA 61 6E 6E 6C 82 61 78 61 31",
            // A content without a digest, and one with half a digest.
            "DA 61 6E 6E 63 A2 01 00 02 63 61 2F 62",
            "DA 61 6E 6E 63 A3 00 41 00 01 00 02 63 61 2F 62",
        ] {
            assert!(decode_value(&mut Decoder::new(&bytes_of(hex))).is_err(), "{hex}");
        }
    }
}
