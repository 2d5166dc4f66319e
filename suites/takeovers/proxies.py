"""Proxies that cut, hold back and lose what goes through them: between clients and servers, and between servers and the store.

All proxies run in one thread. Other threads set their modes, which are plain values.
"""
import asyncio
import contextlib
import threading
import time
from typing import Any, Callable, Coroutine, Optional

from history import Append
from store_messages import Piece, StoreMessages

PASS, DROP = "pass", "drop"
HOLD, SWALLOW = "hold", "swallow"
PIECE_BYTES = 1 << 16
# A server that a client has left may still answer for so long. Units: seconds.
LINGER = 8.0
# An append is held for so long at most.
HOLD_MAX = 60.0
# As a proxy of a product answers for a server that it cannot reach: nothing was sent.
UNREACHED = b"HTTP/1.1 502 Bad Gateway\r\nAnnals-Unreached: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Link:
    """A connection through a proxy."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client, self.server = client, server
        self.is_swallowing = self.has_lost = False
        self.append: Optional[Append] = None

    def abort(self) -> None:
        for side in (self.client, self.server):
            side.transport.abort()


class Proxy:
    """A port of its own in front of another one. `note` gets each append, if what is behind is the store."""

    def __init__(self, name: str, target: int, note: Optional[Callable[[Append], None]] = None) -> None:
        self.name, self.target, self.note = name, target, note
        self.port = 0
        self.links: set[Link] = set()
        self.is_open = True
        self.requests = self.answers = PASS
        self.delay = self.register_delay = 0.0
        self.next_append: Optional[str] = None
        self.caught: Optional[Append] = None
        self.is_released = True

    def heal(self) -> None:
        """Lets everything through again; connections that have lost bytes end. What is held stays held."""
        self.is_open, self.requests, self.answers = True, PASS, PASS
        self.delay = self.register_delay = 0.0
        self.next_append = None
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
            from_server, server = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            if self.note is None:
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

    async def tell_unreached(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # Order: after the head of the request, or the client would not read the answer.
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 1)
            client.write(UNREACHED)
            await client.drain()

    async def send_requests(self, link: Link, reader: asyncio.StreamReader) -> None:
        messages = StoreMessages() if self.note else None
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
        delay = self.delay + (self.register_delay if piece.is_of_register else 0.0)
        if delay:
            await asyncio.sleep(delay)
        if self.requests == DROP:
            link.has_lost = True
            return
        append = self.noted(link, piece)
        if append and append.is_held:
            end = time.monotonic() + HOLD_MAX
            while not self.is_released and time.monotonic() < end:
                await asyncio.sleep(0.02)
        if append:
            append.sent = time.time()
        link.server.write(piece.data)
        await link.server.drain()

    def noted(self, link: Link, piece: Piece) -> Optional[Append]:
        if piece.append is None or self.note is None:
            return None
        key = piece.append
        append = Append(self.name, time.time(), key.first, key.last, key.token, key.term)
        if self.next_append == HOLD:
            append.is_held, self.is_released = True, False
        if self.next_append == SWALLOW:
            append.is_swallowed = link.is_swallowing = link.has_lost = True
        if self.next_append is not None:
            self.caught, self.next_append = append, None
        self.note(append)
        return append

    async def send_answers(self, link: Link, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(PIECE_BYTES):
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
