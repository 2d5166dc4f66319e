"""Tests of the messages to stores: an append is recognised wherever the network cuts it."""
import struct
import unittest

from stores.http_messages import HttpMessages
from stores.messages import OBJECT, REGISTER, AppendKey, Piece
from stores.postgres_messages import PostgresMessages


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
            messages = PostgresMessages()
            pieces = messages.feed(sent[:cut]) + messages.feed(sent[cut:])
            self.assertEqual(b"".join(piece.data for piece in pieces), sent)
            self.assertEqual([piece.append for piece in pieces if piece.append], [AppendKey(7, 9, "01" * 16, 2)])

    def test_looks_at_the_register_are_told_from_other_statements(self) -> None:
        pieces = PostgresMessages().feed(BEGIN + PREPARED + OF_REGISTER + LOOK + SYNC)
        self.assertEqual(pieces, [Piece(BEGIN + PREPARED + OF_REGISTER), Piece(LOOK, REGISTER), Piece(SYNC)])

    def test_requests_of_http_are_whole_and_told_apart_wherever_they_are_cut(self) -> None:
        put = b"PUT /books/annals/objects/0a HTTP/1.1\r\nHost: h\r\ncontent-length: 4\r\n\r\nbody"
        look = b"GET /books/annals/register/lease HTTP/1.1\r\nHost: h\r\n\r\n"
        for cut in range(len(put + look)):
            messages = HttpMessages()
            pieces = messages.feed((put + look)[:cut]) + messages.feed((put + look)[cut:])
            self.assertEqual(pieces, [Piece(put, OBJECT, None, "PUT", "/books/annals/objects/0a"),
                                      Piece(look, REGISTER, None, "GET", "/books/annals/register/lease")])


if __name__ == "__main__":
    unittest.main()
