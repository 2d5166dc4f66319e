"""The log in PostgreSQL under Patroni with etcd: three servers, of which Patroni chooses the primary."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Optional

import psycopg

from stores.postgres import CLIENTS, PostgresLog
from stores.postgres_node import DATABASE, START_MAX, Node, free_port, programs

NODES = 3
# The shortest times that Patroni takes. Units: seconds.
TIMES = {"ttl": 20, "loop_wait": 1, "retry_timeout": 3}
FAIL_OVER_MAX = 90.0


class Member(Node):
    """A server that Patroni starts, promotes and stops."""

    def __init__(self, folder: pathlib.Path, name: str, etcd: int) -> None:
        super().__init__(folder)
        shutil.rmtree(self.data)
        self.name, self.rest = name, free_port()
        parameters = {"unix_socket_directories": "", "max_connections": 100, "password_encryption": "scram-sha-256", "wal_log_hints": "on"}
        places = [f"127.0.0.1:{port}" for port in (self.rest, self.port)]
        user = {"username": "lab"}
        settings = {
            "scope": "annals", "name": name, "etcd3": {"hosts": f"127.0.0.1:{etcd}"}, "watchdog": {"mode": "off"},
            "restapi": {"listen": places[0], "connect_address": places[0]},
            # Without a standby that has it, no commit is acknowledged.
            "bootstrap": {"dcs": {**TIMES, "synchronous_mode": True, "synchronous_mode_strict": True,
                                  "postgresql": {"use_pg_rewind": True, "parameters": parameters}},
                          "initdb": [{"encoding": "UTF8"}, {"auth": "trust"}, "no-locale", "no-sync"]},
            "postgresql": {"listen": places[1], "connect_address": places[1], "data_dir": str(self.data), "bin_dir": str(programs()),
                           "pgpass": str(folder / "pgpass"), "parameters": parameters, "pg_hba": CLIENTS.split("\n")[1:-1],
                           "authentication": {"superuser": user, "replication": user, "rewind": user}},
        }
        self.settings_file = folder / "patroni.yml"
        # JSON is YAML, too.
        self.settings_file.write_text(json.dumps(settings))

    def start(self) -> None:
        program = pathlib.Path(sys.executable).parent / "patroni"
        command = self.command("postgres")[:-1]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*command, str(program), str(self.settings_file)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder, env={**os.environ, "HOME": str(self.folder)})

    def ask(self, method: str, path: str, body: Optional[dict[str, Any]] = None) -> Any:
        """Asks Patroni; `None` without an answer of success."""
        connection = http.client.HTTPConnection("127.0.0.1", self.rest, timeout=5)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
            return json.loads(text) if answer.status == 200 and text.startswith("{") else text if answer.status < 300 else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def kill(self) -> None:
        """Ends the server and its Patroni, as when the machine is gone."""
        if self.process:
            self.process.kill()
            self.process.wait()
        self.signal(signal.SIGKILL)
        end = time.monotonic() + START_MAX
        while self.processes() and time.monotonic() < end:
            time.sleep(0.02)
        self.process = None

    def close(self) -> None:
        self.kill()


class Patroni(PostgresLog):
    """Three servers, and etcd."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        program = shutil.which("etcd")
        if not program:
            raise SystemExit("takeovers: etcd is missing; on Debian: apt-get install etcd-server")
        etcd, peer = free_port(), free_port()
        (folder / "etcd").mkdir(parents=True)
        urls = [f"http://127.0.0.1:{port}" for port in (etcd, peer)]
        with (folder / "etcd.log").open("wb") as log:
            command = ["setpriv", "--pdeathsig=KILL", program, "--data-dir", str(folder / "etcd"), "--unsafe-no-fsync",
                       "--listen-client-urls", urls[0], "--advertise-client-urls", urls[0], "--listen-peer-urls", urls[1],
                       "--initial-advertise-peer-urls", urls[1], "--initial-cluster", f"default={urls[1]}"]
            self.etcd = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.nodes = [Member(folder / f"node-{number}", f"node{number}", etcd) for number in range(NODES)]
        self.ports = [node.port for node in self.nodes]
        self.leader, self.looked = 0, 0.0
        for node in self.nodes:
            node.start()
        self.wait(lambda: len(self.roles()) == NODES and self.has_standby())
        self.wait(self.is_writable)
        self.begin()

    def wait(self, is_so: Any) -> None:
        end = time.monotonic() + FAIL_OVER_MAX
        while not is_so():
            if time.monotonic() > end:
                raise SystemExit(f"takeovers: Patroni does not go on; see the logs in {self.folder}")
            time.sleep(0.2)

    def members(self) -> list[dict[str, Any]]:
        for node in self.nodes:
            if node.is_up and isinstance(found := node.ask("GET", "/cluster"), dict):
                return list(found["members"])
        return []

    def roles(self) -> list[str]:
        return [member["role"] for member in self.members() if member.get("state") in ("running", "streaming")]

    def has_standby(self) -> bool:
        """True if etcd names a standby that has all commits: without one Patroni promotes none."""
        return "sync_standby" in self.roles()

    def find_leader(self) -> Optional[int]:
        names = [member["name"] for member in self.members() if member["role"] == "leader"]
        return next((number for number, node in enumerate(self.nodes) if node.name in names), None)

    def primary(self) -> int:
        """The index of the server that writes, as Patroni told within the last half second."""
        if time.monotonic() > self.looked + 0.5:
            found = self.find_leader()
            self.leader, self.looked = self.leader if found is None else found, time.monotonic()
        return self.leader

    @property
    def node(self) -> Member:
        return self.nodes[self.primary()]

    @property
    def data(self) -> pathlib.Path:
        return self.node.data

    @property
    def is_up(self) -> bool:
        return all(node.is_up for node in self.nodes)

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        return self.node.connect(database)

    def is_writable(self) -> bool:
        with contextlib.suppress(psycopg.Error), self.connect("postgres") as connection:
            row = connection.execute("select not pg_is_in_recovery() and current_setting('synchronous_standby_names') <> ''").fetchone()
            return bool(row and row[0])
        return False

    def start(self) -> None:
        for node in self.nodes:
            if not node.is_up:
                node.start()

    def kill(self) -> None:
        """The machine of the primary is gone."""
        self.wait(self.has_standby)
        self.node.kill()

    def kill_standby(self, is_first: bool) -> None:
        standbys = [node for node in self.nodes if node is not self.node]
        standbys[0 if is_first else 1].kill()

    def stop(self) -> None:
        """Asks Patroni for another primary."""
        self.wait(self.has_standby)
        node = self.node
        self.wait(lambda: node.ask("POST", "/switchover", {"leader": node.name}) is not None)

    def fail_over(self) -> None:
        """Waits until another server writes."""
        self.looked = 0.0
        self.wait(lambda: self.find_leader() is not None and self.is_writable())

    def signal(self, number: signal.Signals) -> None:
        """To the primary, and not to its Patroni."""
        self.node.signal(number)

    def close(self) -> None:
        for node in self.nodes:
            node.close()
        self.etcd.kill()
        self.etcd.wait()
