//! The manifest of a prefix, as text: the log to which it belongs, and the segments of a log that is there.

use std::fmt::Write as _;
use std::str::{FromStr, SplitWhitespace};

use annals::log::{LogId, Token};
use annals::{Error, ErrorKind, Position, Result};

/// The first line; a newer version would have another number.
const BEGINNING: &str = "annals log ";
const FORMAT: u64 = 1;
/// Rewritings that are remembered: followers of earlier ones read the log anew.
const REWRITTEN_MAX: usize = 32;

/// Calls that follow each other, in one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub first: Position,
    pub last: Position,
    /// Units: bytes of its records.
    pub bytes: u64,
    /// Where its directory begins. Units: bytes.
    pub directory: u64,
    /// Units: bytes of the object.
    pub length: u64,
    /// The token of its last call.
    pub token: Token,
    pub name: String,
}

/// The value of the manifest. Each change makes a new version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::s3) struct Manifest {
    pub id: LogId,
    /// True if the log is elsewhere, and only its objects are here.
    pub is_elsewhere: bool,
    pub version: u64,
    /// Names the change that made this version.
    pub change: Token,
    pub generation: u64,
    /// Shape: generations, and the last position of which the rewriting to that one may have changed the record.
    pub(super) rewritten: Vec<(u64, Position)>,
    /// Shape: in order from position 1 on, without gaps.
    pub(super) segments: Vec<Segment>,
    /// The names of lists of what is to leave the bucket.
    pub(super) leaving: Vec<String>,
}

/// The last call of some others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub position: Position,
    /// Zero before the first call.
    pub token: Token,
}

impl Manifest {
    /// The manifest of a new prefix.
    pub fn new(id: LogId, is_elsewhere: bool) -> Manifest {
        Manifest {
            id,
            is_elsewhere,
            version: 1,
            change: Token::random(),
            generation: 0,
            rewritten: Vec::new(),
            segments: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// The next version, which the caller changes.
    pub fn changed(&self) -> Manifest {
        Manifest { version: self.version.saturating_add(1), change: Token::random(), ..self.clone() }
    }

    /// The end of the segments.
    pub(super) fn end(&self) -> End {
        let end = |segment: &Segment| End { position: segment.last, token: segment.token };
        self.segments.last().map_or(End { position: Position::ZERO, token: Token(0) }, end)
    }

    /// Notes a rewriting up to `last`, which makes the next generation.
    pub(super) fn rewrite(&mut self, last: Position) {
        self.generation = self.generation.saturating_add(1);
        self.rewritten.push((self.generation, last));
        let excess = self.rewritten.len().saturating_sub(REWRITTEN_MAX);
        self.rewritten.drain(..excess);
    }

    /// As [`Log::rewritten_since`](annals::log::Log::rewritten_since).
    pub(super) fn rewritten_since(&self, since: u64) -> Position {
        let later = self.rewritten.iter().filter(|(generation, _)| *generation > since);
        let is_known = u64::try_from(later.clone().count()) == Ok(self.generation.saturating_sub(since));
        match is_known {
            true => later.map(|(_, last)| *last).max().unwrap_or_default(),
            false => Position(u64::MAX),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut text = format!("{BEGINNING}{FORMAT}\nid {}\n", self.id);
        let place = if self.is_elsewhere { "elsewhere" } else { "here" };
        let Manifest { version, change, generation, .. } = self;
        // Writing to memory cannot fail.
        let _ = writeln!(text, "log {place}\nversion {version}\nchange {change}\ngeneration {generation}");
        for (generation, last) in &self.rewritten {
            let _ = writeln!(text, "rewritten {generation} {last}");
        }
        for Segment { first, last, bytes, directory, length, token, name } in &self.segments {
            let _ = writeln!(text, "segment {first} {last} {bytes} {directory} {length} {token} {name}");
        }
        for name in &self.leaving {
            let _ = writeln!(text, "leaving {name}");
        }
        let sum = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "sum {sum:08x}");
        text.into_bytes()
    }

    /// Errors: `Corrupted`; `NewerFormat`.
    pub(super) fn decode(bytes: &[u8]) -> Result<Manifest> {
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("expected UTF-8"))?;
        let first = text.lines().next().and_then(|line| line.strip_prefix(BEGINNING));
        let format: u64 =
            first.and_then(|number| number.parse().ok()).ok_or_else(|| damaged("no beginning"))?;
        if format != FORMAT {
            let text = format!("expected format {FORMAT}, found {format}; use a newer version");
            return Err(Error::new(ErrorKind::NewerFormat, text));
        }
        let (lines, sum) = text.trim_end().rsplit_once('\n').ok_or_else(|| damaged("no checksum"))?;
        let lines = format!("{lines}\n");
        if sum != format!("sum {:08x}", crc32c::crc32c(lines.as_bytes())) {
            return Err(damaged("another checksum"));
        }
        let mut manifest = Manifest { version: 0, ..Manifest::new(LogId::NIL, false) };
        for line in lines.lines().skip(1) {
            let mut words = line.split_whitespace();
            manifest.read(&mut words).filter(|()| words.next().is_none()).ok_or_else(|| damaged(line))?;
        }
        let mut end = Position::ZERO;
        for segment in &manifest.segments {
            if segment.first != end.next()
                || segment.last < segment.first
                || segment.directory > segment.length
            {
                return Err(damaged(&segment.name));
            }
            end = segment.last;
        }
        match manifest.version > 0 && manifest.id != LogId::NIL {
            true => Ok(manifest),
            false => Err(damaged("no id or no version")),
        }
    }

    /// Takes a line over.
    fn read(&mut self, words: &mut SplitWhitespace<'_>) -> Option<()> {
        match words.next()? {
            "id" => self.id = LogId(hex(&words.next()?.replace('-', ""))?.to_be_bytes()),
            "log" => {
                let place = words.next()?;
                self.is_elsewhere = place == "elsewhere";
                return (self.is_elsewhere || place == "here").then_some(());
            }
            "version" => self.version = number(words)?,
            "change" => self.change = Token(hex(words.next()?)?),
            "generation" => self.generation = number(words)?,
            "rewritten" => self.rewritten.push((number(words)?, Position(number(words)?))),
            "segment" => self.segments.push(Segment {
                first: Position(number(words)?),
                last: Position(number(words)?),
                bytes: number(words)?,
                directory: number(words)?,
                length: number(words)?,
                token: Token(hex(words.next()?)?),
                name: words.next()?.to_owned(),
            }),
            "leaving" => self.leaving.push(words.next()?.to_owned()),
            _ => return None,
        }
        Some(())
    }
}

fn number<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// A number of 32 digits.
fn hex(text: &str) -> Option<u128> {
    let is_plain = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_plain.then(|| u128::from_str_radix(text, 16).ok())?
}

fn damaged(found: &str) -> Error {
    Error::new(ErrorKind::Corrupted, format!("expected a manifest, found: {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_read_back_and_others_are_refused() {
        let segment = |first, last| Segment {
            first: Position(first),
            last: Position(last),
            bytes: 300,
            directory: 400,
            length: 420,
            token: Token(u128::MAX),
            name: format!("{first:020}-{last:020}"),
        };
        let mut manifest = Manifest::new(LogId([0xab; 16]), false);
        assert_eq!(Manifest::decode(&manifest.encode()).unwrap(), manifest);
        manifest.segments = vec![segment(1, 9), segment(10, 10)];
        manifest.leaving = vec!["a".to_owned()];
        manifest.rewrite(Position(7));
        let manifest = manifest.changed();
        let bytes = manifest.encode();
        assert_eq!(Manifest::decode(&bytes).unwrap(), manifest);
        assert_eq!(manifest.end(), End { position: Position(10), token: Token(u128::MAX) });
        for at in 0..bytes.len() - 1 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Manifest::decode(&damaged).is_err(), "byte {at}");
            assert!(Manifest::decode(&bytes[..at]).is_err(), "{at} bytes");
        }
        let newer = Manifest::decode(b"annals log 2\nx\n").unwrap_err();
        assert_eq!(newer.kind(), ErrorKind::NewerFormat);
        let gap = Manifest { segments: vec![segment(2, 3)], ..manifest };
        assert_eq!(Manifest::decode(&gap.encode()).unwrap_err().kind(), ErrorKind::Corrupted);
    }

    #[test]
    fn the_last_rewritten_position_is_known_for_a_while() {
        let mut manifest = Manifest::new(LogId([1; 16]), false);
        assert_eq!(manifest.rewritten_since(0), Position::ZERO);
        for last in [5, 9, 7] {
            manifest.rewrite(Position(last));
        }
        let since = |generation| manifest.rewritten_since(generation).0;
        assert_eq!([since(0), since(1), since(2), since(3)], [9, 9, 7, 0]);
        for last in 10..10 + u64::try_from(REWRITTEN_MAX).unwrap() {
            manifest.rewrite(Position(last));
        }
        assert_eq!(manifest.rewritten_since(2), Position(u64::MAX));
        assert_eq!(manifest.rewritten_since(3).0, 41);
    }
}
