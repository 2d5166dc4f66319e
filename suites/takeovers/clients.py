"""Clients: threads that write, read and subscribe, and note each request with its answer."""
import http.client
import json
import random
import threading
import time
import urllib.parse
from datetime import datetime, timezone
from typing import Any, Callable, Iterable, Optional

from history import ACKNOWLEDGED, REFUSED, UNKNOWN, UNREACHED, Event, Read, Write
from servers import BROKEN, Cluster, Server, ask

WRITERS, READERS, SUBSCRIBERS = 8, 3, 2
SHARED = [f"shared-{number}" for number in range(5)]
REUSED = [f"reused-{number}" for number in range(2)]
# How long a client waits for an answer. Some writers are patient: their requests are in flight when a stopped server goes on.
WAIT, WAIT_PATIENT, WAIT_READ = 3.0, 9.0, 7.0
PAUSE_MEAN, PAUSE_AFTER_FAILURE = 0.03, 0.03


def secret_of(operation: str) -> str:
    """A value that is nowhere once its instance is purged, and the log compacted."""
    return f"secret-{operation}."


def outcome_of(status: int, headers: dict[str, str]) -> str:
    """The outcome that a status means: docs/errors.md."""
    if "annals-unreached" in headers:
        return UNREACHED
    if 200 <= status < 300:
        return ACKNOWLEDGED
    return REFUSED if 400 <= status < 500 or status in (503, 507) else UNKNOWN


def instant_text(micros: int) -> str:
    seconds, rest = divmod(micros, 1_000_000)
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest:06}Z"


class Board:
    """What clients know of each other, and what the driver asks of them."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.history = cluster, cluster.history
        self.lock = threading.Lock()
        # Set when writers and readers end; and up to which position subscribers go on, once that is known.
        self.is_over = False
        self.subscribed_until: Optional[int] = None
        self.in_flight = 0
        # The start and the end of the acknowledged write that began last.
        self.acknowledged = (0.0, 0.0)
        self.made: list[str] = list(SHARED)
        self.related: list[str] = []

    def begins(self) -> None:
        with self.lock:
            self.in_flight += 1

    def ends(self, write: Write) -> None:
        with self.lock:
            self.in_flight -= 1
            if write.outcome == ACKNOWLEDGED and write.start > self.acknowledged[0]:
                self.acknowledged = (write.start, write.end)
        self.history.add(write)


class Client(threading.Thread):
    """A thread with random numbers of its own."""

    def __init__(self, board: Board, name: str, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.board, self.random = board, random.Random(f"{seed} {name}")
        self.servers = board.cluster.servers[:3]
        self.known = 0

    def run(self) -> None:
        while not self.board.is_over:
            self.step()

    def step(self) -> None:
        raise NotImplementedError

    def next_server(self, server: Server, told: str) -> Server:
        """The server that a refusal named, or the one after this."""
        named = self.board.cluster.named(told) if told else None
        if named is None or named is server:
            named = self.servers[(self.servers.index(server) + 1) % len(self.servers)]
        return named


class Writer(Client):
    """Sends each write once, to the server that wrote last as far as it knows."""

    def __init__(self, board: Board, number: int, seed: int) -> None:
        super().__init__(board, f"w{number}", seed)
        self.server = self.servers[0]
        self.wait = WAIT_PATIENT if number < 2 else WAIT
        self.count = 0
        self.tags: dict[str, str] = {}
        # The address of the writer in the latest refusal.
        self.told = ""

    def step(self) -> None:
        self.count += 1
        operation = f"{self.name}-{self.count}"
        chance = self.random.random()
        if chance < 0.25:
            self.create(operation, f"made-{operation}")
        elif chance < 0.50:
            self.change(operation, self.random.choice(SHARED), "")
        elif chance < 0.75:
            name = self.random.choice(SHARED)
            tag = self.tags.get(name, "")
            self.change(operation, name, tag) if tag else self.look(name)
        elif chance < 0.88:
            self.relate(operation)
        elif chance < 0.93:
            self.delete(operation)
        else:
            self.reuse(operation)
        time.sleep(min(self.random.expovariate(1 / PAUSE_MEAN), 0.3))

    def look(self, name: str) -> None:
        """Reads the tag for a later change."""
        try:
            status, headers, _ = ask(self.server.to_clients.port, "GET", f"/v1/entities/{name}", timeout=WAIT)
        except BROKEN:
            return
        if status == 200:
            self.tags[name] = headers["etag"]

    def create(self, operation: str, name: str) -> None:
        properties = {"v": operation}
        if name in REUSED:
            properties["secret"] = secret_of(operation)
        body = {"id": name, "type": "item", "properties": properties}
        write, answer = self.send(operation, "create", "entity", name, "POST", "/v1/entities", body)
        if write.outcome == ACKNOWLEDGED and answer and not name.startswith("reused"):
            self.board.made.append(name)

    def change(self, operation: str, name: str, tag: str) -> None:
        write, _ = self.send(operation, "change", "entity", name, "PATCH", f"/v1/entities/{name}", {"v": operation}, tag)
        if write.outcome == ACKNOWLEDGED:
            self.tags[name] = write.tag
        elif write.status == 412:
            self.tags.pop(name, None)

    def relate(self, operation: str) -> None:
        start, end = self.random.choice(SHARED), self.random.choice(self.board.made[-50:])
        body = {"type": "uses", "from": start, "to": end, "properties": {"v": operation}}
        write, answer = self.send(operation, "relate", "relationship", "", "POST", "/v1/relationships", body)
        if write.outcome == ACKNOWLEDGED and answer:
            self.board.related.append(write.id)

    def delete(self, operation: str) -> None:
        made = [name for name in self.board.made[-30:] if name.startswith("made-")]
        if made:
            name = self.random.choice(made)
            self.send(operation, "delete", "entity", name, "DELETE", f"/v1/entities/{name}")

    def reuse(self, operation: str) -> None:
        name = self.random.choice(REUSED)
        if self.random.random() < 0.5:
            return self.create(operation, name)
        self.send(operation, "purge", "entity", name, "DELETE", f"/v1/entities/{name}?purge=true")

    def send(self, operation: str, action: str, kind: str, name: str, method: str, path: str, body: Any = None,
             if_match: str = "") -> tuple[Write, Any]:
        """Sends a write and notes its outcome. Shape: with the body of the answer, if it was acknowledged."""
        headers = {"Annals-Author": self.name, "Annals-Message": operation}
        if if_match:
            headers["If-Match"] = if_match
        server = self.server
        write = Write(self.name, operation, action, kind, name, server.name, 0.0, 0.0, UNKNOWN, 0, if_match=if_match)
        self.board.begins()
        write.start, answer = time.time(), b""
        try:
            write.status, got, answer = ask(server.to_clients.port, method, path, headers, body, self.wait)
            self.judge(write, got, answer)
        except ConnectionRefusedError:
            write.outcome = UNREACHED
        except BROKEN as error:
            write.problem = type(error).__name__
        write.end = time.time()
        found = json.loads(answer) if write.outcome == ACKNOWLEDGED and answer else None
        if action == "relate" and found:
            write.id = str(found.get("id", ""))
        self.board.ends(write)
        if write.outcome != ACKNOWLEDGED and write.status not in (404, 409, 410, 412):
            self.move(server)
        return write, found

    def judge(self, write: Write, got: dict[str, str], answer: bytes) -> None:
        write.outcome = outcome_of(write.status, got)
        if write.outcome == ACKNOWLEDGED:
            write.position, write.tag = int(got["annals-position"]), got.get("etag", "")
        if write.status >= 400 and answer:
            write.problem = json.loads(answer).get("kind", "")
            self.told = got.get("annals-writer", "")

    def move(self, server: Server) -> None:
        """Goes to the server that was named, or to the next one."""
        self.server, self.told = self.next_server(server, self.told), ""
        time.sleep(PAUSE_AFTER_FAILURE)


class Reader(Client):
    """Reads instances at all servers: now, from a position on, or as of an instant."""

    def __init__(self, board: Board, number: int, seed: int) -> None:
        super().__init__(board, f"r{number}", seed)
        self.position = 0

    def step(self) -> None:
        server = self.random.choice(self.servers)
        chance = self.random.random()
        headers: dict[str, str] = {}
        at: Optional[int] = None
        kind, name = "entity", self.random.choice(SHARED)
        if chance < 0.3:
            at = int(time.time() * 1_000_000) - self.random.choice([0, 0, self.random.randrange(3_000_000)])
        elif chance < 0.45:
            name = self.random.choice(self.board.made[-40:] + REUSED)
        elif chance < 0.55 and self.board.related:
            kind, name = "relationship", self.random.choice(self.board.related[-40:])
        wait = self.position if at is None and self.random.random() < 0.5 else 0
        if wait:
            headers["Annals-Wait-Position"] = str(wait)
        self.read(server, kind, name, wait, at, headers)
        time.sleep(min(self.random.expovariate(1 / PAUSE_MEAN), 0.3))

    def read(self, server: Server, kind: str, name: str, wait: int, at: Optional[int], headers: dict[str, str]) -> None:
        path = f"/v1/{'entities' if kind == 'entity' else 'relationships'}/{name}"
        if at is not None:
            path += "?" + urllib.parse.urlencode({"at": instant_text(at)})
        process, start = server.process_name, time.time()
        try:
            status, got, body = ask(server.to_clients.port, "GET", path, headers, None, WAIT_READ)
            end = time.time()
            position = int(got.get("annals-position", 0))
            value = str(json.loads(body)["properties"].get("v", "")) if status == 200 else ""
        except (*BROKEN, ValueError, KeyError):
            time.sleep(PAUSE_AFTER_FAILURE)
            return
        if server.process_name == process:
            self.board.history.add(Read(self.name, kind, name, server.name, process, start, end, status, position, wait, at, got.get("etag", ""), value))
        if status == 200 and at is None:
            self.position = max(self.position, position)


class Subscriber(Client):
    """Follows the feed from one server to another, from the last event that it has."""

    def __init__(self, board: Board, number: int, seed: int) -> None:
        super().__init__(board, f"s{number}", seed)
        self.last = 0

    def run(self) -> None:
        while (until := self.board.subscribed_until) is None or self.last < until:
            self.step()

    def step(self) -> None:
        server = self.random.choice(self.servers)
        end = time.monotonic() + self.random.uniform(1, 8)
        connection = http.client.HTTPConnection("127.0.0.1", server.to_clients.port, timeout=3)
        try:
            connection.request("GET", "/v1/feed", None, {"Last-Event-ID": str(self.last), "Connection": "close"})
            answer = connection.getresponse()
            while answer.status == 200 and time.monotonic() < end and (line := answer.readline()):
                if line.startswith(b"data:"):
                    self.take(server, json.loads(line[5:]))
        except (*BROKEN, ValueError):
            pass
        finally:
            connection.close()
        time.sleep(PAUSE_AFTER_FAILURE)

    def take(self, server: Server, event: dict[str, Any]) -> None:
        """Notes an event; an error in the middle has no record."""
        record = event.get("data")
        if not isinstance(record, dict) or "position" not in record:
            raise ValueError("an error ends the feed")
        self.last = int(event["id"])
        self.board.history.add(Event(self.name, server.name, time.time(), self.last, record["position"], record.get("instant", ""), record.get("message", "")))


class Crowd:
    """All clients of a run."""

    def __init__(self, cluster: Cluster, seed: int, others: Iterable[Callable[[Board, int], Client]] = ()) -> None:
        self.board = Board(cluster)
        first = Writer(self.board, 9, seed)
        for number, name in enumerate(SHARED + REUSED):
            first.create(f"w9-{number}", name)
        self.clients: list[Client] = [Writer(self.board, number, seed) for number in range(WRITERS)]
        self.clients += [Reader(self.board, number, seed) for number in range(READERS)]
        self.clients += [make(self.board, seed) for make in others]
        self.subscribers = [Subscriber(self.board, number, seed) for number in range(SUBSCRIBERS)]
        for client in [*self.clients, *self.subscribers]:
            client.start()

    def stop(self) -> None:
        """Ends writers and readers."""
        self.board.is_over = True
        for client in self.clients:
            client.join(30)

    def end_subscriptions(self, last: int, timeout: float = 40.0) -> None:
        """Ends the subscribers when they have the record at the last position, or have waited long enough for it."""
        self.board.subscribed_until = last
        end = time.monotonic() + timeout
        for client in self.subscribers:
            client.join(max(0.1, end - time.monotonic()))
        self.board.subscribed_until = 0
