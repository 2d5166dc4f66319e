"""Splits what a client sends to a service of S3 into requests, and tells objects, the register and calls of the log apart.

Requests have their length in `Content-Length`. The keys are in docs/logs/s3.md.
"""
import re
from typing import Optional

from stores.messages import APPEND, OBJECT, REGISTER, AppendKey, Piece
from stores.s3_call import MAGIC, call_at

HEAD_END = b"\r\n\r\n"
OF_CALL = re.compile(r"/log/\d{20}")
LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)\r\n", re.IGNORECASE)


class HttpMessages:
    """The requests of one connection."""

    def __init__(self) -> None:
        self.buffer = b""

    def feed(self, data: bytes) -> list[Piece]:
        """The whole requests so far; bytes of an unfinished one wait."""
        self.buffer += data
        pieces = []
        while (message := self.take()) is not None:
            pieces.append(self.piece(message))
        return pieces

    def take(self) -> Optional[bytes]:
        end = self.buffer.find(HEAD_END)
        if end < 0:
            return None
        found = LENGTH.search(self.buffer, 0, end + 2)
        length = end + len(HEAD_END) + (int(found[1]) if found else 0)
        if len(self.buffer) < length:
            return None
        message, self.buffer = self.buffer[:length], self.buffer[length:]
        return message

    def piece(self, message: bytes) -> Piece:
        method, path = message.split(b" ", 2)[:2]
        name = path.decode(errors="replace")
        append = append_key(method, name, message.partition(HEAD_END)[2])
        kind = APPEND if append else REGISTER if "/register/" in name else OBJECT if "/objects/" in name else ""
        return Piece(message, kind, append, method.decode(), name)


def append_key(method: bytes, path: str, body: bytes) -> Optional[AppendKey]:
    """The key of a call, if that is what is put. Its stub is not: it comes into the place of a call that is there."""
    if method != b"PUT" or not OF_CALL.search(path) or body[:4] != MAGIC:
        return None
    call = call_at(body, 0, path)
    return None if call.is_stub else AppendKey(call.first, call.last, call.token, call.term)
