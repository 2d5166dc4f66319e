"""A server of PostgreSQL in a folder of its own, as another user than root, which ends whatever becomes of the driver."""
import contextlib
import glob
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
from typing import Any, Optional

import psycopg

START_MAX = 60.0
DATABASE = "library"
SETTINGS = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=100", "password_encryption=scram-sha-256")


def programs() -> pathlib.Path:
    """The folder of the programs of the latest version."""
    folders = glob.glob("/usr/lib/postgresql/*/bin") + os.environ.get("PATH", "").split(os.pathsep)
    found = [pathlib.Path(folder) for folder in folders if (pathlib.Path(folder) / "initdb").exists()]
    if not found:
        raise SystemExit("takeovers: PostgreSQL is missing; on Debian: apt-get install postgresql")
    return max(found, key=lambda folder: int((re.findall(r"\d+", str(folder)) or ["0"])[0]))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def owner() -> Optional[str]:
    """The user of the server if this is root: PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            return name
    raise SystemExit("takeovers: expected a user to run PostgreSQL, found neither postgres nor nobody")


class Node:
    """A server. Its first start needs a folder `data` that `initdb`, or a base backup, has made."""

    def __init__(self, folder: pathlib.Path, settings: tuple[str, ...] = ()) -> None:
        self.folder, self.data, self.settings = folder, folder / "data", settings
        self.port = free_port()
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.user = owner()
        self.data.mkdir(parents=True)
        self.give(folder, self.data)

    def give(self, *paths: pathlib.Path) -> None:
        """The user of the server owns them."""
        for path in paths if self.user else ():
            shutil.chown(path, self.user)

    def run(self, name: str, *arguments: str) -> None:
        subprocess.run(self.command(name, *arguments), check=True, stdout=subprocess.DEVNULL, cwd="/")

    @property
    def is_up(self) -> bool:
        return self.process is not None

    def command(self, name: str, *arguments: str) -> list[str]:
        """The command of a program. It ends when the driver ends."""
        prefix = ["setpriv", "--pdeathsig=QUIT"]
        if self.user:
            # It may read folders of root, so that its folder can be below one that only root enters.
            prefix += [f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", "--inh-caps=+dac_read_search",
                       "--ambient-caps=+dac_read_search"]
        return [*prefix, str(programs() / name), *arguments]

    def start(self) -> None:
        """Starts the process, and waits until it answers."""
        options = [word for setting in [*SETTINGS, *self.settings] for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            command = self.command("postgres", "-D", str(self.data), "-p", str(self.port), *options)
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        end = time.monotonic() + START_MAX
        while True:
            try:
                self.connect("postgres").close()
                return
            except psycopg.OperationalError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"takeovers: PostgreSQL does not start: {error}; see {self.folder / 'log'}") from error
                time.sleep(0.05)

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        place = {"host": "127.0.0.1", "port": self.port, "user": "lab", "dbname": database, "connect_timeout": 5}
        return psycopg.connect(**place, autocommit=True)

    def processes(self) -> list[int]:
        """The process, and those of its connections: all have its data as their folder."""
        found = []
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd") == str(self.data):
                    found.append(int(entry))
        return found

    def signal(self, number: signal.Signals) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self) -> None:
        """Kills the server without a word to anybody."""
        assert self.process
        self.process.kill()
        self.process.wait()
        end = time.monotonic() + START_MAX
        # Until its other processes have ended, a new one does not start.
        while self.processes() and time.monotonic() < end:
            time.sleep(0.02)
        self.process = None

    def close(self) -> None:
        if self.process is None:
            return
        self.signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGQUIT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process = None
