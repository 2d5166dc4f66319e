"""Three servers of Annals over one log, each behind proxies: one to each store, one for its clients."""
import contextlib
import glob
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Iterator, Optional

from history import ACKNOWLEDGED, REFUSED, Final, History, Step, Trouble
from proxies import Proxies, Proxy
from replay import line_of
from stores.s3_log import S3Log
from stores.subjects import Subject

NAMES = ("a", "b", "c")
# The role of the client that sees what grants admit; and the step that asks for a compaction.
GUESTS, COMPACT = "guests", "compact"
START_MAX = 60.0
# The clock of a server is wrong by what its file says; a new value counts after so long. Units: seconds.
CLOCK_LIBRARIES, CLOCK_CACHED = "/usr/lib/*/faketime/libfaketimeMT.so.1", 1
# Contents that nothing names leave the bucket after so long. Units: milliseconds.
GRACE_MS = 3000
COMPACTION_MAX = 60.0
# A commit without a confirmation is taken back within a minute after an outage.
TAKEN_BACK_MAX = 75.0
# What a client sees as no answer.
BROKEN = (OSError, http.client.HTTPException)


class Stuck(Exception):
    """The cluster does not go on."""


def ask(port: int, method: str, path: str, headers: Optional[dict[str, str]] = None, body: Any = None,
        timeout: float = 5.0) -> tuple[int, dict[str, str], bytes]:
    """One request over a connection of its own. `body` is bytes, or a value that is sent as JSON. Shape: status, headers in small
    letters, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        sent = {"Connection": "close", **(headers or {})}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/octet-stream" if data is body else "application/json"
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
    finally:
        connection.close()


def clock_library() -> str:
    found = sorted(glob.glob(CLOCK_LIBRARIES))
    if not found:
        raise SystemExit("takeovers: libfaketime is missing; on Debian: apt-get install faketime")
    return found[0]


class Server:
    """A process of Annals that is started again and again, always behind the same proxies."""

    def __init__(self, name: str, subject: Subject, proxies: Proxies, history: History, folder: pathlib.Path) -> None:
        self.name, self.subject, self.history, self.folder = name, subject, history, folder
        log, objects = subject.log, subject.objects
        witness = log if isinstance(log, S3Log) else None
        self.to_stores = [proxies.add(Proxy(name, port, history.add, log.messages, log.certificates, witness)) for port in log.ports]
        self.to_objects = proxies.add(Proxy(name, objects.port, history.add, objects.messages)) if objects else None
        self.to_clients = proxies.add(Proxy(name, 1))
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.port, self.life = 0, 0
        self.clock = folder / f"{name}.clock"
        self.set_clock(0)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.to_clients.port}"

    @property
    def process_name(self) -> str:
        return f"{self.name}-{self.life}"

    @property
    def to_store(self) -> Proxy:
        """The way to the server of the store that writes."""
        return self.to_stores[self.subject.log.primary()]

    @property
    def to_bucket(self) -> Proxy:
        """The way to the contents."""
        return self.to_objects or self.to_store

    def proxies(self) -> Iterator[Proxy]:
        yield from (proxy for proxy in (*self.to_stores, self.to_objects, self.to_clients) if proxy)

    def set_clock(self, ahead: float) -> None:
        """Its clock is wrong by so much from now on, give or take a second. Units: seconds."""
        new = self.clock.with_suffix(".new")
        new.write_text(f"{ahead:+f}\n")
        new.replace(self.clock)

    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": clock_library(), "FAKETIME_TIMESTAMP_FILE": str(self.clock), "FAKETIME_CACHE_DURATION": str(CLOCK_CACHED),
            "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "ANNALS_REMOVAL_GRACE_MS": str(GRACE_MS),
        }

    def start(self, program: pathlib.Path, options: list[str], environment: dict[str, str]) -> None:
        """Starts a process. It ends when the driver ends."""
        self.life += 1
        place = self.subject.log.place([proxy.port for proxy in self.to_stores])
        if self.to_objects and self.subject.objects:
            options = [*options, "--objects", self.subject.objects.place([self.to_objects.port])]
        command = ["setpriv", "--pdeathsig=KILL", str(program), "-r", place, "serve", "--listen", "127.0.0.1:0", "--public-url", self.address,
                   "--heartbeat-ms", "1000", "--log", "warn", *options]
        out, log = self.folder / f"{self.process_name}.out", self.folder / f"{self.process_name}.log"
        with out.open("wb") as to_out, log.open("wb") as to_log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_log, cwd=self.folder,
                                            env={**os.environ, **self.environment(), **environment})
        end = time.monotonic() + START_MAX
        while not (found := re.search(r"listens on http://127\.0\.0\.1:(\d+)", out.read_text())):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Stuck(f"server {self.name} does not start: {log.read_text()[-2000:]}")
            time.sleep(0.02)
        self.port = self.to_clients.target = int(found[1])

    def ready(self) -> dict[str, Any]:
        """What it tells of itself; empty without an answer."""
        with contextlib.suppress(*BROKEN, ValueError):
            return json.loads(ask(self.port, "GET", "/health/ready", timeout=2)[2])
        return {}

    def is_ready(self) -> bool:
        with contextlib.suppress(*BROKEN):
            return ask(self.port, "GET", "/health/ready", timeout=2)[0] == 200
        return False

    def signal(self, number: signal.Signals) -> None:
        assert self.process
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kills the process without a word, also a stopped one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def look_for_panics(self) -> None:
        for log in sorted(self.folder.glob(f"{self.name}-*.log")):
            with log.open(errors="replace") as lines:
                for line in lines:
                    if "panicked" in line:
                        self.history.add(Trouble(log.stem, line.strip()[:300]))


class Cluster:
    """The stores, the servers and their proxies."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path, subject: Subject, environment: dict[str, str]) -> None:
        self.folder, self.program, self.subject, self.environment = folder, program, subject, environment
        self.history = History()
        # Compactions that faults have begun.
        self.compactions: list[threading.Thread] = []
        self.proxies = Proxies()
        self.store = subject.log
        self.tokens = folder / "tokens"
        self.token = self.new_token("guest", GUESTS)
        self.servers = [Server(name, subject, self.proxies, self.history, folder) for name in NAMES]
        first, *others = self.servers
        first.start(program, ["--create", *self.options()], environment)
        self.wait_until(first.is_ready, "the first server is ready")
        self.store.prepare()
        for server in others:
            self.start(server)
        self.wait_until(lambda: all(server.is_ready() for server in self.servers), "all servers are ready")

    def new_token(self, name: str, role: str) -> str:
        command = [str(self.program), "token", "new", name, "--role", role, "--tokens", str(self.tokens)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def options(self) -> list[str]:
        """Clients without a token may do everything; one with a token sees what grants admit."""
        return ["--tokens", str(self.tokens), "--insecure-anyone"]

    def start(self, server: Server) -> None:
        server.start(self.program, ["--standby", *self.options()], self.environment)

    def wait_until(self, is_so: Any, what: str, timeout: float = START_MAX) -> bool:
        """Waits; what does not come in time is trouble."""
        end = time.monotonic() + timeout
        while not is_so():
            if time.monotonic() > end:
                self.history.add(Trouble("driver", f"expected that {what} within {timeout:.0f} s"))
                return False
            time.sleep(0.02)
        return True

    def named(self, address: str) -> Optional[Server]:
        return next((server for server in self.servers if server.address == address.rstrip("/")), None)

    def lease(self) -> dict[str, Any]:
        """The lease, as the store has it; empty without one."""
        return self.store.lease()

    def writer(self) -> Server:
        """The server that the lease names."""
        found: list[Server] = []

        def look() -> bool:
            lease = self.lease()
            server = self.named(lease.get("address", "")) if lease.get("is_held") else None
            found.extend([server] if server and server.process and not server.has_ended() else [])
            return bool(found)

        if not self.wait_until(look, "the lease names a server"):
            raise Stuck("no server holds the lease")
        return found[0]

    def heal(self) -> None:
        """Ends all faults: proxies let everything through, stopped processes go on, killed ones are started."""
        for server in self.servers:
            server.set_clock(0)
            for proxy in server.proxies():
                proxy.is_released = True
                self.proxies.call(proxy.heal)
            if server.process is not None and not server.has_ended():
                server.signal(signal.SIGCONT)
        self.subject.heal()
        for server in self.servers:
            if server.has_ended():
                assert server.process
                self.history.add(Trouble(server.process_name, f"ended by itself with {server.process.returncode}"))
                server.process = None
            if server.process is None:
                self.start(server)
        self.wait_until(lambda: all(server.is_ready() for server in self.servers), "all servers are ready again")

    def finish(self) -> None:
        """After the clients have ended: notes what each server shows, and one that reads the log from zero, and reads the store."""
        if self.environment:
            # Without the lease there is no quiet: servers take over from each other for ever.
            self.environment = {}
            for server in self.servers:
                server.kill()
                self.start(server)
        for compaction in self.compactions:
            compaction.join(2 * COMPACTION_MAX)
        # Order: first, because a takeover after the store is read would be in no replay.
        signs = self.lease().get("count", 0) + 2
        self.wait_until(lambda: self.lease().get("count", 0) >= signs, "a writer gives signs of life")
        # Without a writer there is trouble already.
        with contextlib.suppress(Stuck):
            self.wait_until(self.is_confirmed, "all commits are confirmed or taken back", TAKEN_BACK_MAX)
            self.compact(self.writer())
        last = Server("z", self.subject, self.proxies, self.history, self.folder)
        self.servers.append(last)
        try:
            self.start(last)
            self.wait_until(last.is_ready, "a server that begins from zero is ready")
        except Stuck as stuck:
            self.history.add(Trouble(last.name, str(stuck)))

        def positions() -> list[int]:
            return [json.loads(ask(server.port, "GET", "/health/ready", timeout=10)[2]).get("position", -1) for server in self.servers]

        def are_equal() -> bool:
            with contextlib.suppress(*BROKEN, ValueError):
                before = positions()
                time.sleep(0.2)
                return len(set(before)) == 1 and positions() == before
            return False

        self.wait_until(are_equal, "all servers show the same position after quiet")
        for server in self.servers:
            try:
                self.history.add(shown(server))
            except BROKEN as error:
                self.history.add(Trouble(server.name, f"shows nothing after quiet: {error!r}"))
            server.look_for_panics()
        self.subject.read(self.history)

    def is_confirmed(self) -> bool:
        """True if no commit waits for its confirmation any more, but for those of a clock that was far ahead."""
        soon = datetime.now(timezone.utc) + timedelta(minutes=1)
        with contextlib.suppress(*BROKEN, ValueError, KeyError):
            items = json.loads(ask(self.writer().port, "GET", "/v1/candidates")[2])["items"]
            waiting = [item["unconfirmed"]["confirmBefore"] for item in items if item.get("unconfirmed")]
            return all(datetime.fromisoformat(until) > soon for until in waiting)
        return False

    def compact(self, server: Server, timeout: float = COMPACTION_MAX) -> None:
        """Asks for a compaction, and waits until what it lets go has left the stores."""
        step = Step("driver", COMPACT, "", "", server.name, server.process_name, time.time(), 0.0, REFUSED, 0)
        try:
            # Order: before it, because what is purged meanwhile stays until the next one.
            step.position = int(ask(server.port, "GET", "/v1/stats", timeout=10)[1]["annals-position"])
            step.status, _, answer = ask(server.port, "POST", "/v1/compactions", timeout=timeout)
            step.outcome = ACKNOWLEDGED if step.status == 200 else REFUSED
            step.problem = "" if step.status == 200 else answer.decode(errors="replace")[:200]
        except BROKEN as error:
            step.problem = repr(error)
        step.end = time.time()
        self.history.add(step)
        if step.outcome == ACKNOWLEDGED and self.subject.bucket:
            self.wait_for_removals()

    def wait_for_removals(self) -> None:
        """The writer looks about once a second for what has waited for the grace, and removes it in two steps."""
        time.sleep(4 * GRACE_MS / 1000)

    def close(self) -> None:
        for server in self.servers:
            server.kill()
        self.subject.close()


def shown(server: Server) -> Final:
    """All that a server shows, as lines of the replay."""
    status, headers, body = ask(server.port, "GET", "/v1/export", timeout=60)
    lines = []
    for text in body.decode().splitlines() if status == 200 else [f"status {status}"]:
        try:
            (kind, members), = json.loads(text).items()
            if kind not in ("entity", "relationship"):
                # Declarations of types.
                continue
            ends = (members.get("from", ""), members.get("to", ""))
            lines.append(line_of(kind, members["id"], str(members["properties"].get("v", "")), ends))
        except (ValueError, KeyError, AttributeError):
            lines.append(text)
    return Final(server.name, int(headers.get("annals-position", -1)), lines)
