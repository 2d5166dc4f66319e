"""Tests of the messages to PostgreSQL: an append is recognised wherever the network cuts it."""
import struct
import unittest

from store_messages import AppendKey, Piece, StoreMessages


def message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack(">i", len(content) + 4) + content


def value(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def append(first: int, last: int, token: bytes, term: int) -> bytes:
    numbers = [value(first.to_bytes(8, "big")), value(last.to_bytes(8, "big")), value(token), value(term.to_bytes(8, "big")), value(b"x")]
    return message(b"B", b"\0s1\0" + struct.pack(">hhh", 1, 1, len(numbers)) + b"".join(numbers))


BEGIN = struct.pack(">ii", 10, 196608) + b"u\0"
PREPARED = message(b"P", b"s1\0\n    insert into annals.call (first, last)\n    select 1\0" + struct.pack(">h", 0))
OF_REGISTER = message(b"P", b"s2\0select value from annals.register\0" + struct.pack(">h", 0))
LOOK = message(b"B", b"\0s2\0" + struct.pack(">hhh", 0, 0, 0))
SYNC = message(b"S", b"")


class Messages(unittest.TestCase):
    def test_an_append_is_recognised_wherever_it_is_cut(self) -> None:
        sent = BEGIN + PREPARED + SYNC + append(7, 9, b"\1" * 16, 2) + SYNC
        for cut in range(len(sent)):
            messages = StoreMessages()
            pieces = messages.feed(sent[:cut]) + messages.feed(sent[cut:])
            self.assertEqual(b"".join(piece.data for piece in pieces), sent)
            self.assertEqual([piece.append for piece in pieces if piece.append], [AppendKey(7, 9, "01" * 16, 2)])

    def test_looks_at_the_register_are_told_from_other_statements(self) -> None:
        pieces = StoreMessages().feed(BEGIN + PREPARED + OF_REGISTER + LOOK + SYNC)
        self.assertEqual(pieces, [Piece(BEGIN + PREPARED + OF_REGISTER), Piece(LOOK, None, True), Piece(SYNC)])


if __name__ == "__main__":
    unittest.main()
