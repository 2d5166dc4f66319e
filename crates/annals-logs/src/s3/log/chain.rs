//! The calls behind the segments, as far as they are known. Each begins where the one before it ends, and names its token.

use std::collections::VecDeque;

use annals::Position;
use annals::log::Token;
use bytes::Bytes;

use super::call::CallHeader;
use super::manifest::End;

/// The beginnings of the latest calls are kept, each of at most [`PIECE_BYTES`](super::look::PIECE_BYTES), up to so many bytes.
#[cfg(not(test))]
const PIECES_BYTES_MAX: usize = 8 << 20;
#[cfg(test)]
const PIECES_BYTES_MAX: usize = 64;

/// A call that is in the bucket.
#[derive(Clone, Debug)]
pub(super) struct KnownCall {
    pub first: Position,
    pub last: Position,
    pub token: Token,
    /// The token of the call before.
    pub previous: Token,
    /// Units: bytes of the object.
    pub length: u64,
    /// Units: bytes of its records.
    pub bytes: u64,
    /// The beginning of the object, perhaps all of it, if it was read or put a moment ago.
    pub piece: Bytes,
}

impl KnownCall {
    pub fn of(header: &CallHeader, piece: Bytes) -> KnownCall {
        let CallHeader { first, last, token, previous, body_bytes: bytes, .. } = *header;
        KnownCall { first, last, token, previous, length: header.whole_bytes(), bytes, piece }
    }

    pub fn end(&self) -> End {
        End { position: self.last, token: self.token }
    }

    /// The object, if all of it is kept.
    pub fn kept(&self) -> Option<&Bytes> {
        (u64::try_from(self.piece.len()) == Ok(self.length)).then_some(&self.piece)
    }
}

/// Calls that follow each other.
#[derive(Debug)]
pub(super) struct Chain {
    start: End,
    calls: VecDeque<KnownCall>,
    /// Units: bytes of their records.
    bytes: u64,
    /// Units: bytes of the pieces.
    pieces_bytes: usize,
    /// So many of the first calls have lost their pieces.
    bare_count: usize,
}

impl Chain {
    /// No calls behind the end of the segments.
    pub fn new(start: End) -> Chain {
        Chain { start, calls: VecDeque::new(), bytes: 0, pieces_bytes: 0, bare_count: 0 }
    }

    /// The end of the last call.
    pub fn end(&self) -> End {
        self.calls.back().map_or(self.start, KnownCall::end)
    }

    pub fn last(&self) -> Option<&KnownCall> {
        self.calls.back()
    }

    pub fn count(&self) -> usize {
        self.calls.len()
    }

    /// Units: bytes of the records.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the call that follows the last one; others change nothing.
    pub fn push(&mut self, call: KnownCall) {
        if call.first != self.end().position.next() {
            return;
        }
        self.bytes = self.bytes.saturating_add(call.bytes);
        self.pieces_bytes += call.piece.len();
        self.calls.push_back(call);
        while self.pieces_bytes > PIECES_BYTES_MAX
            && let Some(oldest) = self.calls.get_mut(self.bare_count)
        {
            self.pieces_bytes -= oldest.piece.len();
            oldest.piece = Bytes::new();
            self.bare_count += 1;
        }
    }

    /// The calls from the one with the position `from` on.
    pub fn calls_from(&self, from: Position) -> impl Iterator<Item = &KnownCall> {
        let skipped = self.calls.partition_point(|call| call.last < from);
        self.calls.iter().skip(skipped)
    }

    /// Leaves out the calls that segments have now. False, without an effect, if another call ends there.
    #[must_use]
    pub fn begin_from(&mut self, start: End) -> bool {
        if start.position == self.start.position {
            return start == self.start;
        }
        let kept = self.calls.partition_point(|call| call.last <= start.position);
        let before = kept.checked_sub(1).and_then(|last| self.calls.get(last));
        // A reader that was away for long knows no call that ends there, and none behind it.
        let is_same = match before {
            Some(call) if call.last == start.position => call.token == start.token,
            _ => kept == self.calls.len() && start.position > self.start.position,
        };
        if is_same {
            for call in self.calls.drain(..kept) {
                self.bytes = self.bytes.saturating_sub(call.bytes);
                self.pieces_bytes -= call.piece.len();
            }
            self.bare_count = self.bare_count.saturating_sub(kept);
            self.start = start;
        }
        is_same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(first: u64, last: u64) -> KnownCall {
        let (first, last) = (Position(first), Position(last));
        let (token, previous) = (Token(last.0.into()), Token(u128::from(first.0) - 1));
        KnownCall { first, last, token, previous, length: 9, bytes: 2, piece: Bytes::new() }
    }

    fn end(position: u64) -> End {
        End { position: Position(position), token: Token(position.into()) }
    }

    #[test]
    fn calls_follow_each_other_and_leave_for_segments() {
        let mut chain = Chain::new(end(4));
        for known in [call(6, 6), call(5, 7), call(5, 5), call(8, 8), call(9, 12)] {
            chain.push(known);
        }
        assert_eq!((chain.end(), chain.count(), chain.bytes()), (end(12), 3, 6));
        let firsts = |chain: &Chain, from| {
            chain.calls_from(Position(from)).map(|call| call.first.0).collect::<Vec<_>>()
        };
        assert_eq!(
            (firsts(&chain, 6), firsts(&chain, 8), firsts(&chain, 13)),
            (vec![5, 8, 9], vec![8, 9], vec![])
        );
        assert!(chain.begin_from(end(8)));
        assert_eq!((firsts(&chain, 1), chain.bytes()), (vec![9], 2));
        assert!(chain.begin_from(end(20)));
        assert_eq!((chain.end(), chain.count()), (end(20), 0));
        assert!(!chain.begin_from(End { token: Token(3), ..end(20) }), "another call ends there");
    }

    #[test]
    fn only_the_latest_calls_keep_their_bytes() {
        let mut chain = Chain::new(end(0));
        let kept = |chain: &Chain| {
            chain
                .calls_from(Position(1))
                .filter(|call| !call.piece.is_empty())
                .map(|call| call.first.0)
                .collect::<Vec<_>>()
        };
        for at in 1..=10 {
            chain.push(KnownCall { piece: Bytes::from_static(&[7; 20]), ..call(at, at) });
        }
        assert_eq!(kept(&chain), [8, 9, 10]);
        assert!(chain.begin_from(end(8)));
        assert_eq!(kept(&chain), [9, 10]);
        chain.push(KnownCall { piece: Bytes::from_static(&[7; 30]), ..call(11, 11) });
        assert_eq!(kept(&chain), [10, 11]);
        assert!(chain.begin_from(end(20)));
        assert_eq!((chain.pieces_bytes, chain.bare_count), (0, 0));
    }
}
