//! Opens the bytes of an import: a file or standard input, plain or gzip, counted for the progress bar.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use annals::{Error, ErrorKind, Result};
use flate2::bufread::MultiGzDecoder;

const BUFFER_BYTES: usize = 128 * 1024;
/// The first bytes of packed data.
pub const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A readable input. It recognises gzip by the first two bytes, never by the name, and reads several gzip members in
/// one file as one. Memory does not depend on the size of the input.
///
/// Errors: reading gives `InvalidData`, `InvalidInput` or `UnexpectedEof` if the gzip stream is damaged or cut.
pub struct Source {
    reader: Box<dyn BufRead + Send>,
    name: String,
    bytes_read: Arc<AtomicU64>,
    bytes_total: Option<u64>,
}

impl Source {
    /// Opens the file at `path`, or standard input if `path` is `-`.
    /// Errors: `NotFound` if there is no such file; `InvalidArgument` for a folder; `Io` otherwise.
    pub fn open(path: &Path) -> Result<Source> {
        if path.as_os_str() == "-" {
            return Source::from_reader("standard input", io::stdin());
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| open_error(&name, error))?;
        let metadata = file.metadata().map_err(|error| open_error(&name, error))?;
        if metadata.is_dir() {
            return Err(
                Error::new(ErrorKind::InvalidArgument, "expected a file, found a folder").with("path", name)
            );
        }
        let mut source = Source::from_reader(name, file)?;
        // A pipe or device has no length that a progress bar could use.
        source.bytes_total = metadata.is_file().then_some(metadata.len());
        Ok(source)
    }

    /// Reads from anything else; `name` is used in messages. Waits for the first two bytes or the end.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Result<Source> {
        let name = name.into();
        let bytes_read = Arc::new(AtomicU64::new(0));
        let mut counted = Counted { reader, bytes_read: Arc::clone(&bytes_read) };
        let mut head = Vec::new();
        (&mut counted).take(2).read_to_end(&mut head).map_err(|error| open_error(&name, error))?;
        let is_gzip = head == GZIP_MAGIC;
        let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(counted));
        let reader: Box<dyn BufRead + Send> = if is_gzip {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(whole)))
        } else {
            Box::new(whole)
        };
        Ok(Source { reader, name, bytes_read, bytes_total: None })
    }

    /// The path or name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes read from the input so far, as stored (packed, if it is gzip). Shared: a progress bar keeps a clone.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    /// The size of the file as stored, or `None` if it is unknown.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.reader.consume(bytes);
    }
}

/// Counts the bytes that are read through it.
struct Counted<R> {
    reader: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(buffer)?;
        // Relaxed: the count is only displayed and orders nothing.
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

fn open_error(name: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::new(ErrorKind::NotFound, "no such file").with("path", name),
        _ => Error::io("open input", error).with("path", name),
    }
}

/// The error of a reader whose input broke at `line`.
pub fn read_error(line: u64, error: io::Error) -> Error {
    Error::io("read input", error).with("line", line)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn pack(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read_all(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Source::from_reader("test", Cursor::new(bytes)).unwrap().read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn gzip_is_told_by_its_first_bytes() {
        assert_eq!(read_all(pack(b"hello")).unwrap(), b"hello");
        assert_eq!(read_all(b"hello".to_vec()).unwrap(), b"hello");
    }

    #[test]
    fn several_gzip_members_are_one_input() {
        let members = [pack(b"one "), pack(b"two")].concat();
        assert_eq!(read_all(members).unwrap(), b"one two");
    }

    #[test]
    fn an_input_of_less_than_two_bytes_is_plain() {
        assert_eq!(read_all(vec![]).unwrap(), b"");
        assert_eq!(read_all(vec![0x1f]).unwrap(), [0x1f]);
    }

    #[test]
    fn a_cut_gzip_stream_is_an_error() {
        let mut packed = pack(&b"hello ".repeat(1_000));
        packed.truncate(packed.len() - 9);
        assert_eq!(read_all(packed).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn stored_bytes_are_counted_and_the_total_is_known_for_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed");
        let packed = pack(&b"hello ".repeat(100_000));
        std::fs::write(&path, &packed).unwrap();
        let mut source = Source::open(&path).unwrap();
        let bytes_read = source.bytes_read();
        assert_eq!(source.bytes_total(), Some(packed.len() as u64));
        io::copy(&mut source, &mut io::sink()).unwrap();
        assert_eq!(bytes_read.load(Ordering::Relaxed), packed.len() as u64);
    }

    #[test]
    fn a_missing_file_and_a_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Source::open(&folder.path().join("none")).err().unwrap();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert!(missing.to_string().contains("none"), "{missing}");
        assert_eq!(Source::open(folder.path()).err().unwrap().kind(), ErrorKind::InvalidArgument);
    }
}
