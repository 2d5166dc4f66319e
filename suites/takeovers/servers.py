"""Three servers of Annals over one log, each behind proxies: one to the store, one for its clients."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time
from typing import Any, Optional

import stored
from history import Append, Final, History, Trouble
from proxies import Proxies, Proxy
from replay import line_of
from store import DATABASE, ROLE, Store

NAMES = ("a", "b", "c")
START_MAX = 60.0
# What a client sees as no answer.
BROKEN = (OSError, http.client.HTTPException)


class Stuck(Exception):
    """The cluster does not go on."""


def ask(port: int, method: str, path: str, headers: Optional[dict[str, str]] = None, body: Any = None,
        timeout: float = 5.0) -> tuple[int, dict[str, str], bytes]:
    """One request over a connection of its own. Shape: status, headers in small letters, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        sent = {"Connection": "close", **(headers or {})}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/json"
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
    finally:
        connection.close()


class Server:
    """A process of Annals that is started again and again, always behind the same proxies."""

    def __init__(self, name: str, store: Store, proxies: Proxies, history: History, folder: pathlib.Path) -> None:
        self.name, self.history, self.folder = name, history, folder
        self.to_store = proxies.add(Proxy(name, store.port, self.note))
        self.to_clients = proxies.add(Proxy(name, 1))
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.port, self.life = 0, 0

    def note(self, append: Append) -> None:
        self.history.add(append)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.to_clients.port}"

    @property
    def process_name(self) -> str:
        return f"{self.name}-{self.life}"

    def start(self, program: pathlib.Path, options: list[str], environment: dict[str, str]) -> None:
        """Starts a process. It ends when the driver ends."""
        self.life += 1
        place = f"postgres://{ROLE}@127.0.0.1:{self.to_store.port}/{DATABASE}"
        command = ["setpriv", "--pdeathsig=KILL", str(program), "-r", place, "serve", "--listen", "127.0.0.1:0", "--public-url", self.address,
                   "--heartbeat-ms", "1000", "--log", "warn", *options]
        out, log = self.folder / f"{self.process_name}.out", self.folder / f"{self.process_name}.log"
        with out.open("wb") as to_out, log.open("wb") as to_log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_log, cwd=self.folder,
                                            env={**os.environ, **environment})
        end = time.monotonic() + START_MAX
        while not (found := re.search(r"listens on http://127\.0\.0\.1:(\d+)", out.read_text())):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Stuck(f"server {self.name} does not start: {log.read_text()[-2000:]}")
            time.sleep(0.02)
        self.port = self.to_clients.target = int(found[1])

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
    """The store, the servers and their proxies."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path, environment: dict[str, str]) -> None:
        self.folder, self.program, self.environment = folder, program, environment
        self.history = History()
        self.proxies = Proxies()
        self.store = Store(folder / "store")
        self.servers = [Server(name, self.store, self.proxies, self.history, folder) for name in NAMES]
        first, *others = self.servers
        first.start(program, ["--create"], environment)
        self.wait_until(first.is_ready, "the first server is ready")
        with self.store.connect() as connection:
            connection.execute(stored.AUDIT)
        for server in others:
            self.start(server)
        self.wait_until(lambda: all(server.is_ready() for server in self.servers), "all servers are ready")

    def start(self, server: Server) -> None:
        server.start(self.program, ["--standby"], self.environment)

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
        with contextlib.suppress(OSError, stored.psycopg.Error), self.store.connect() as connection:
            row = connection.execute(f"select value from {stored.SCHEMA}.register where slot = 'lease'").fetchone()
            return stored.lease_of(bytes(row[0])) if row else {}
        return {}

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
            for proxy in (server.to_store, server.to_clients):
                proxy.is_released = True
                self.proxies.call(proxy.heal)
            if server.process is not None and not server.has_ended():
                server.signal(signal.SIGCONT)
        if self.store.process is None:
            self.store.start()
        self.store.signal(signal.SIGCONT)
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
        # Order: first, because a takeover after the store is read would be in no replay.
        signs = self.lease().get("count", 0) + 2
        self.wait_until(lambda: self.lease().get("count", 0) >= signs, "a writer gives signs of life")
        last = Server("z", self.store, self.proxies, self.history, self.folder)
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
        with self.store.connect() as connection:
            stored.read_store(connection, self.history)

    def close(self) -> None:
        for server in self.servers:
            server.kill()
        self.store.close()


def shown(server: Server) -> Final:
    """All that a server shows, as lines of the replay."""
    status, headers, body = ask(server.port, "GET", "/v1/export", timeout=60)
    lines = []
    for text in body.decode().splitlines() if status == 200 else [f"status {status}"]:
        try:
            (kind, members), = json.loads(text).items()
            ends = (members.get("from", ""), members.get("to", ""))
            lines.append(line_of(kind, members["id"], str(members["properties"].get("v", "")), ends))
        except (ValueError, KeyError, AttributeError):
            lines.append(text)
    return Final(server.name, int(headers.get("annals-position", -1)), lines)
