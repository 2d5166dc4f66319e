"""Splits what a client sends to PostgreSQL into messages, and recognises an append among them.

Source: "Message Formats" of the manual of PostgreSQL, protocol 3.0. Appends are prepared statements with parameters in binary form.
"""
import struct
from typing import Optional

from stores.messages import APPEND, REGISTER, AppendKey, Piece

ENCRYPTION = (80877103, 80877104)
OF_APPEND = b"insert into annals.call "
OF_REGISTER = b"annals.register"


class PostgresMessages:
    """The messages of one connection."""

    def __init__(self) -> None:
        self.buffer = b""
        self.is_begun = False
        self.statements: dict[bytes, bytes] = {}

    def feed(self, data: bytes) -> list[Piece]:
        """The whole messages so far; bytes of an unfinished one wait."""
        self.buffer += data
        pieces: list[Piece] = []
        while (message := self.take()) is not None:
            piece = self.piece(message)
            if pieces and not (piece.kind or pieces[-1].kind):
                pieces[-1].data += piece.data
            else:
                pieces.append(piece)
        return pieces

    def take(self) -> Optional[bytes]:
        head = 5 if self.is_begun else 8
        if len(self.buffer) < head:
            return None
        length = struct.unpack_from(">i", self.buffer, 1)[0] + 1 if self.is_begun else struct.unpack_from(">i", self.buffer)[0]
        if len(self.buffer) < length:
            return None
        message, self.buffer = self.buffer[:length], self.buffer[length:]
        return message

    def piece(self, message: bytes) -> Piece:
        if not self.is_begun:
            self.is_begun = struct.unpack_from(">i", message, 4)[0] not in ENCRYPTION
            return Piece(message)
        kind, content = message[:1], message[5:]
        if kind == b"P":
            name, text = content.split(b"\0", 2)[:2]
            self.statements[name] = b" ".join(text.split())
        if kind != b"B":
            return Piece(message)
        _, name, rest = content.split(b"\0", 2)
        text = self.statements.get(name, b"")
        if text.startswith(OF_APPEND) and (append := append_key(rest)):
            return Piece(message, APPEND, append)
        return Piece(message, REGISTER if OF_REGISTER in text else "")


def append_key(rest: bytes) -> Optional[AppendKey]:
    """The key in what follows the names in a message `Bind`."""
    formats = struct.unpack_from(">h", rest)[0]
    at = 2 + 2 * formats
    count = struct.unpack_from(">h", rest, at)[0]
    at += 2
    values = []
    for _ in range(min(count, 4)):
        length = struct.unpack_from(">i", rest, at)[0]
        values.append(rest[at + 4:at + 4 + max(length, 0)])
        at += 4 + max(length, 0)
    if [len(value) for value in values] != [8, 8, 16, 8]:
        return None
    first, last, token, term = values
    return AppendKey(int.from_bytes(first, "big"), int.from_bytes(last, "big"), token.hex(), int.from_bytes(term, "big"))
