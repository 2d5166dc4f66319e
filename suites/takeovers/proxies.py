"""Proxies that cut, hold back and lose what goes through them: between clients and servers, and between servers and the stores.

All proxies run in one thread. Other threads set their modes, which are plain values.
"""
import asyncio
import contextlib
import threading
import time
from typing import Any, Callable, Coroutine, Optional, Protocol

from history import Append, ObjectRequest
from stores.certificates import Certificates
from stores.messages import REGISTER, Messages, Piece

PASS, DROP = "pass", "drop"
# What happens to one request: it waits; its answer is lost; it is lost itself.
HOLD, SWALLOW, LOSE = "hold", "swallow", "lose"
PIECE_BYTES = 1 << 16
# A server that a client has left may still answer for so long. Units: seconds.
LINGER = 8.0
# The request for TLS with which a connection to PostgreSQL begins, and the answer.
TLS_WANTED, TLS_GRANTED = b"\0\0\0\x08\x04\xd2\x16\x2f", b"S"
HTTP = b"HTTP/1.1 "
# A request is held for so long at most.
HOLD_MAX = 60.0
# As a proxy of a product answers for a server that it cannot reach: nothing was sent.
UNREACHED = b"HTTP/1.1 502 Bad Gateway\r\nAnnals-Unreached: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Link:
    """A connection through a proxy."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client, self.server = client, server
        self.is_swallowing = self.has_lost = False
        # The request of HTTP that is not answered yet.
        self.waiting: Optional[Piece] = None

    def abort(self) -> None:
        for side in (self.client, self.server):
            side.transport.abort()


class Witness(Protocol):
    """A store that does not tell its history, so that the proxies tell it."""

    def went_on(self, piece: Piece, at: float) -> None:
        """A request is on its way to the store."""
        ...

    def answered(self, piece: Piece, at: float, status: int) -> None:
        """The store has answered a request of HTTP."""
        ...


class Proxy:
    """A port of its own in front of another one. If a store is behind it, `messages` tells its requests apart, and `note` gets each
    append and each request for an object that is caught. With `certificates` clients must ask for TLS as PostgreSQL does."""

    def __init__(self, name: str, target: int, note: Optional[Callable[[Any], None]] = None,
                 messages: Optional[Callable[[], Messages]] = None, certificates: Optional[Certificates] = None,
                 witness: Optional[Witness] = None) -> None:
        self.name, self.target, self.note, self.messages, self.certificates = name, target, note, messages, certificates
        self.witness = witness
        self.port = 0
        self.links: set[Link] = set()
        self.is_open = True
        self.requests = self.answers = PASS
        self.delay = self.register_delay = 0.0
        # Answers a request in the place of the store, or says that it does not.
        self.refusal: Optional[Callable[[Piece], Optional[bytes]]] = None
        # What happens to the next request of a kind, and whether it came.
        self.next_caught: Optional[tuple[str, str]] = None
        self.has_caught = False
        self.is_released = True

    def heal(self) -> None:
        """Lets everything through again; connections that have lost bytes end. What is held stays held."""
        self.is_open, self.requests, self.answers = True, PASS, PASS
        self.delay = self.register_delay = 0.0
        self.refusal = self.next_caught = None
        for link in list(self.links):
            if link.has_lost:
                link.abort()

    def cut(self) -> None:
        """Ends all connections and takes no new ones."""
        self.is_open = False
        for link in list(self.links):
            link.abort()

    async def listen(self) -> None:
        server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def accept(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        try:
            if not self.is_open:
                raise ConnectionRefusedError
            if self.certificates:
                await self.begin_tls(reader, client)
            if not self.is_open:
                raise ConnectionRefusedError
            from_server, server = await asyncio.open_connection("127.0.0.1", self.target)
        except (OSError, asyncio.IncompleteReadError):
            if self.messages is None:
                await self.tell_unreached(reader, client)
            client.transport.abort()
            return
        link = Link(client, server)
        self.links.add(link)
        try:
            await asyncio.gather(self.send_requests(link, reader), self.send_answers(link, from_server))
        except OSError:
            pass
        finally:
            self.links.discard(link)
            link.abort()

    async def begin_tls(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Errors: `OSError`, also of a client that does not trust the certificate."""
        assert self.certificates
        if await reader.readexactly(len(TLS_WANTED)) != TLS_WANTED:
            raise ConnectionRefusedError
        client.write(TLS_GRANTED)
        await client.start_tls(self.certificates.context)

    async def tell_unreached(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # Order: after the head of the request, or the client would not read the answer.
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 1)
            client.write(UNREACHED)
            await client.drain()

    async def send_requests(self, link: Link, reader: asyncio.StreamReader) -> None:
        messages = self.messages() if self.messages else None
        with contextlib.suppress(OSError):
            while data := await reader.read(PIECE_BYTES):
                for piece in messages.feed(data) if messages else [Piece(data)]:
                    await self.send_request(link, piece)
        if messages is None:
            # The server works on, as behind a proxy that does not tell it that its client has gone.
            end = time.monotonic() + LINGER
            while not link.server.is_closing() and not link.client.is_closing() and time.monotonic() < end and link in self.links:
                await asyncio.sleep(0.05)
        link.server.close()

    async def send_request(self, link: Link, piece: Piece) -> None:
        delay = self.delay + (self.register_delay if piece.kind == REGISTER else 0.0)
        if delay:
            await asyncio.sleep(delay)
        if self.requests == DROP:
            link.has_lost = True
            return
        if self.refusal and (answer := self.refusal(piece)) is not None:
            link.client.write(answer)
            return await link.client.drain()
        how = self.caught(piece)
        noted = self.noted(piece, how)
        if how == LOSE:
            link.has_lost = True
            return
        if how == SWALLOW:
            link.is_swallowing = link.has_lost = True
        if how == HOLD:
            self.is_released = False
            end = time.monotonic() + HOLD_MAX
            while not self.is_released and time.monotonic() < end:
                await asyncio.sleep(0.02)
        if noted:
            noted.sent = time.time()
        if self.witness:
            link.waiting = piece
            self.witness.went_on(piece, time.time())
        link.server.write(piece.data)
        await link.server.drain()

    def caught(self, piece: Piece) -> str:
        """What happens to this request; empty if it passes."""
        if self.next_caught is None or self.next_caught[0] != piece.kind or piece.method in ("GET", "HEAD"):
            return ""
        how, self.next_caught, self.has_caught = self.next_caught[1], None, True
        return how

    def noted(self, piece: Piece, how: str) -> Optional[Append | ObjectRequest]:
        if self.note is None:
            return None
        found: Append | ObjectRequest
        if piece.append:
            key = piece.append
            found = Append(self.name, time.time(), key.first, key.last, key.token, key.term)
            found.is_held, found.is_swallowed = how == HOLD, how == SWALLOW
        elif how and piece.method:
            found = ObjectRequest(self.name, piece.method, piece.path, how, time.time())
        else:
            return None
        self.note(found)
        return found

    async def send_answers(self, link: Link, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(PIECE_BYTES):
                if self.witness and link.waiting and data.startswith(HTTP):
                    self.witness.answered(link.waiting, time.time(), int(data[len(HTTP):len(HTTP) + 3]))
                    link.waiting = None
                if self.delay:
                    await asyncio.sleep(self.delay)
                if self.answers == DROP or link.is_swallowing:
                    link.has_lost = True
                    continue
                link.client.write(data)
                await link.client.drain()
        if not (self.answers == DROP or link.is_swallowing):
            link.client.close()


class Proxies:
    """The thread of all proxies."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="proxies", daemon=True)
        self.thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def add(self, proxy: Proxy) -> Proxy:
        self.run(proxy.listen())
        return proxy

    def call(self, work: Callable[[], None]) -> None:
        """Runs a method of a proxy in the thread of the proxies."""
        async def run() -> None:
            work()
        self.run(run())
