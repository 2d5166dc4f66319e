//! Cuts a JSON array into its elements, one at a time, so that memory does not grow with the array.

use std::io::{self, BufRead, Read};

/// The place in an array.
#[derive(Debug, Default, PartialEq, Eq)]
enum Next {
    /// Before the array, or before its first element.
    #[default]
    First,
    /// Behind an element.
    More,
    /// Behind the array, or behind a fault.
    End,
}

/// Reads the elements of an array.
#[derive(Debug, Default)]
pub struct Elements {
    next: Next,
    has_begun: bool,
    /// Lines before the next byte.
    lines_count: u64,
}

/// An element, or the reason why there is none at its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Element {
    /// Its first and its last line, from 1.
    pub lines: (u64, u64),
    /// An inner error ends the array.
    pub text: Result<(), String>,
}

impl Elements {
    /// True if the input is an array: its first byte, behind blanks, is a bracket.
    pub fn is_array(input: &mut impl BufRead) -> io::Result<bool> {
        let text = input.fill_buf()?;
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Ok(text.trim_ascii_start().first() == Some(&b'['))
    }

    /// Reads the next element into `to`; `None` at the end. Longer elements than `bytes_max` are skipped.
    ///
    /// Errors: those of reading.
    pub fn read(
        &mut self,
        input: &mut impl BufRead,
        to: &mut Vec<u8>,
        bytes_max: usize,
    ) -> io::Result<Option<Element>> {
        to.clear();
        if self.next == Next::End {
            return Ok(None);
        }
        if !self.has_begun {
            self.has_begun = true;
            let is_bracket = |byte: &u8| *byte == b'[';
            while self.byte(input)?.is_some_and(|byte| !is_bracket(&byte)) {}
        }
        let first = match self.unblank(input)? {
            Some(b']') => return self.finish(input),
            Some(b',') if self.next == Next::More => self.unblank(input)?,
            other => other.filter(|_| self.next == Next::First),
        };
        let begins_at = self.lines_count + 1;
        let Some(first) = first.filter(|first| !b",]}".contains(first)) else {
            return Ok(Some(
                self.fault(begins_at, "expected a comma and an element, or the end of the array"),
            ));
        };
        self.next = Next::More;
        let mut scan = Scan::default();
        scan.take(first);
        to.push(first);
        let mut is_long = false;
        loop {
            if scan.is_done() {
                break;
            }
            match self.peek(input)? {
                None => return Ok(Some(self.fault(begins_at, "the array ends within an element"))),
                // A number, a text or a word ends where its array goes on.
                Some(byte) if scan.ends_before(byte) => break,
                Some(byte) => {
                    self.byte(input)?;
                    scan.take(byte);
                    is_long |= to.len() >= bytes_max;
                    if !is_long {
                        to.push(byte);
                    }
                }
            }
        }
        let text = match is_long {
            true => Err(format!("expected an element of at most {bytes_max} bytes, found a longer one")),
            false => Ok(()),
        };
        Ok(Some(Element { lines: (begins_at, self.lines_count + 1), text }))
    }

    /// Nothing may follow the array.
    fn finish(&mut self, input: &mut impl BufRead) -> io::Result<Option<Element>> {
        let follows = self.unblank(input)?.is_some();
        let line = self.lines_count + 1;
        let fault = follows.then(|| self.fault(line, "expected nothing behind the array, found more"));
        self.next = Next::End;
        Ok(fault)
    }

    fn fault(&mut self, line: u64, reason: &str) -> Element {
        self.next = Next::End;
        Element { lines: (line, self.lines_count + 1), text: Err(reason.to_owned()) }
    }

    /// The next byte that is not blank.
    fn unblank(&mut self, input: &mut impl BufRead) -> io::Result<Option<u8>> {
        loop {
            match self.byte(input)? {
                Some(byte) if byte.is_ascii_whitespace() => {}
                other => return Ok(other),
            }
        }
    }

    fn peek(&mut self, input: &mut impl BufRead) -> io::Result<Option<u8>> {
        Ok(input.fill_buf()?.first().copied())
    }

    fn byte(&mut self, input: &mut impl BufRead) -> io::Result<Option<u8>> {
        let mut byte = [0];
        let is_there = input.take(1).read(&mut byte)? > 0;
        self.lines_count += u64::from(is_there && byte[0] == b'\n');
        Ok(is_there.then_some(byte[0]))
    }
}

/// The place within an element.
#[derive(Default)]
struct Scan {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl Scan {
    fn take(&mut self, byte: u8) {
        self.has_begun = true;
        if self.is_in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.is_in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => return,
        }
        // An object or an array is done with its last bracket.
        self.has_begun = self.depth > 0 || self.is_in_text;
    }

    fn is_done(&self) -> bool {
        !self.has_begun
    }

    fn ends_before(&self, byte: u8) -> bool {
        self.depth == 0 && !self.is_in_text && (b",]".contains(&byte) || byte.is_ascii_whitespace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut text: &[u8]) -> Vec<(u64, Result<String, String>)> {
        assert!(Elements::is_array(&mut text).unwrap());
        let (mut elements, mut buffer, mut found) = (Elements::default(), Vec::new(), Vec::new());
        while let Some(element) = elements.read(&mut text, &mut buffer, 12).unwrap() {
            let text = String::from_utf8(buffer.clone()).unwrap();
            found.push((element.lines.0, element.text.map(|()| text)));
        }
        found
    }

    #[test]
    fn elements_are_read_one_by_one() {
        let text = "\u{feff} [{\"a\": \"]\\\"\"},\n [1, 2] ,3,\"x, y\"\n\n, {}\n]\n";
        let found = read(text.as_bytes());
        let of = |line, text: &str| (line, Ok(text.to_owned()));
        let expected =
            [of(1, "{\"a\": \"]\\\"\"}"), of(2, "[1, 2]"), of(2, "3"), of(2, "\"x, y\""), of(4, "{}")];
        assert_eq!(found, expected);
        assert_eq!(read(b"[]"), []);
        assert_eq!(read(b"[ \n ] "), []);
    }

    #[test]
    fn a_damaged_array_ends_with_a_reason() {
        for (text, line, reason) in [
            ("[{\"a\": 1", 1, "the array ends within an element"),
            ("[1\n2]", 2, "expected a comma and an element"),
            ("[1,\n]", 2, "expected a comma and an element"),
            ("[1,", 1, "expected a comma and an element"),
            ("[1]\n[2]", 2, "expected nothing behind the array"),
            ("[\"0123456789012\"]", 1, "at most 12 bytes"),
        ] {
            let found = read(text.as_bytes());
            let (found_line, last) = found.last().unwrap();
            assert_eq!(*found_line, line, "{text}: {found:?}");
            assert!(last.as_ref().unwrap_err().contains(reason), "{text}: {found:?}");
        }
    }
}
