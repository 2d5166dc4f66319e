"""Faults between the servers and the bucket of contents."""
import signal
import time
from typing import TYPE_CHECKING, Optional

from making import HELD, Make, Making
from proxies import HOLD, LOSE, SWALLOW, Proxy
from servers import Server
from stores.messages import OBJECT, Piece

if TYPE_CHECKING:
    from faults import Faults

CHANGES = ("PUT", "POST", "DELETE")


def refusal(status: str, code: str) -> bytes:
    """An answer of S3."""
    body = f"<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code><Message>by a proxy</Message></Error>".encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class ObjectFaults(Making):
    """Faults of a bucket, if the run has one."""

    def __init__(self, faults: "Faults") -> None:
        super().__init__(faults.cluster, faults.board, faults.random)
        self.kinds: dict[str, Make] = {}
        self.expected: dict[str, list[int]] = {}
        if self.cluster.subject.bucket is None:
            return
        self.bucket = self.cluster.subject.bucket
        self.kinds = {
            "bucket full": self.full,
            "bucket read-only": self.read_only,
            "bucket stopped": self.stop,
            "cut writer from bucket": self.cut_writer_from_bucket,
            "answer of an upload swallowed": self.swallow,
            "upload lost": self.lose,
            "upload held": self.hold,
            "writer killed in an upload": self.kill,
            "upload held, writer killed": self.hold_and_kill,
        }
        self.expected = {"bucket full": [507], "bucket read-only": [503]}

    def proxy(self, server: Server) -> Proxy:
        return server.to_bucket

    def refuse(self, answer: bytes) -> None:
        """No server changes anything in the bucket for a while."""
        def refused(piece: Piece) -> Optional[bytes]:
            return answer if piece.method in CHANGES else None

        for server in self.cluster.servers:
            self.proxy(server).refusal = refused
        self.pause(2.5, 5)

    def full(self, writer: Server) -> None:
        self.refuse(refusal("507 Insufficient Storage", "InsufficientStorage"))

    def read_only(self, writer: Server) -> None:
        self.refuse(refusal("403 Forbidden", "AccessDenied"))

    def stop(self, writer: Server) -> None:
        self.bucket.signal(signal.SIGSTOP)
        self.pause(0.5, 6)
        self.bucket.signal(signal.SIGCONT)

    def cut_writer_from_bucket(self, writer: Server) -> None:
        self.cut(self.proxy(writer), 0.5, 6)

    def caught(self, writer: Server, how: str) -> Optional[str]:
        return None if self.catch(self.proxy(writer), how, OBJECT) else "no upload came"

    def swallow(self, writer: Server) -> Optional[str]:
        found = self.caught(writer, SWALLOW)
        self.pause(0.0, 5)
        return found

    def lose(self, writer: Server) -> Optional[str]:
        found = self.caught(writer, LOSE)
        self.pause(0.0, 5)
        return found

    def hold(self, writer: Server) -> Optional[str]:
        found = self.caught(writer, HOLD)
        self.pause(1, HELD)
        return found

    def kill(self, writer: Server) -> Optional[str]:
        """In the middle of a request, which goes on."""
        found = self.caught(writer, HOLD)
        writer.kill()
        self.proxy(writer).is_released = True
        self.wait_for_takeover(writer)
        return found

    def hold_and_kill(self, writer: Server) -> Optional[str]:
        found = self.caught(writer, HOLD)
        begun = time.monotonic()
        self.pause(0.0, 0.5)
        writer.kill()
        self.wait_for_takeover(writer)
        self.wait_for_write()
        time.sleep(max(0.0, begun + HELD - time.monotonic()))
        self.proxy(writer).is_released = True
        time.sleep(0.3)
        return found
