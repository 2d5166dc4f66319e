//! Sums over the lines of a file, to check that the lines have not changed or moved.
//!
//! The sum of several lines is the sum of their sums, modulo 2^64; that of one line mixes its number with the CRC-32C
//! of its bytes. Empty lines do not count, nor do line ends (the last line may have none yet) and a byte order mark.

/// Sums the lines of bytes that come in pieces.
#[derive(Clone, Debug, Default)]
pub struct LineSums {
    /// Lines ended so far.
    lines_count: u64,
    /// Their sum.
    total: u64,
    /// The checksum of the line that has not ended.
    crc32c: u32,
    is_in_line: bool,
    is_blank: bool,
}

/// The mark that editors put before the first line.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl LineSums {
    /// Adds the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    self.take_piece(end);
                    self.total = self.total();
                    self.lines_count += 1;
                    self.is_in_line = false;
                }
                None => self.take_piece(piece),
            }
        }
    }

    fn take_piece(&mut self, piece: &[u8]) {
        if !self.is_in_line {
            (self.crc32c, self.is_in_line, self.is_blank) = (0, true, true);
        }
        self.is_blank &= piece.trim_ascii().is_empty();
        self.crc32c = crc32c::crc32c_append(self.crc32c, piece);
    }

    /// Lines ended so far.
    pub fn lines_count(&self) -> u64 {
        self.lines_count
    }

    /// True if the last line has no end yet.
    pub fn is_in_line(&self) -> bool {
        self.is_in_line
    }

    /// The sum of all lines so far, as if the last one ended here.
    pub fn total(&self) -> u64 {
        if !self.is_in_line || self.is_blank {
            return self.total;
        }
        self.total.wrapping_add(mix(mix(self.lines_count + 1) ^ u64::from(self.crc32c)))
    }
}

/// The sum of one line, with or without its end.
pub fn line_sum(line: u64, text: &[u8]) -> u64 {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return 0;
    }
    mix(mix(line) ^ u64::from(crc32c::crc32c(text)))
}

/// The bytes without a byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Source: the finalizer of splitmix64, <https://prng.di.unimi.it/splitmix64.c>.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
