"""The log in PostgreSQL. The database is on a small disk, if this user may mount one, so that it can really be full."""
import contextlib
import os
import pathlib
import secrets
import signal
import subprocess
import time
from typing import Any

import psycopg

from history import History
from stores import postgres_log
from stores.certificates import Certificates
from stores.postgres_messages import PostgresMessages
from stores.postgres_node import DATABASE, START_MAX, Node

ROLE = "annals"
# Units: bytes of the disk of the database.
DISK_BYTES = 1 << 30
# The role of the servers needs its password.
CLIENTS = f"""
host {DATABASE} {ROLE} 127.0.0.1/32 scram-sha-256
host all lab 127.0.0.1/32 trust
host replication lab 127.0.0.1/32 trust
"""
INITDB = ("-U", "lab", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync")
# What the server says of a full disk, if there is no small one.
FULL = f"""
create function audit.refuse() returns trigger language plpgsql as $$
begin
    raise exception using errcode = '53100', message = 'could not extend file: No space left on device';
end $$;
create trigger refuse before insert on {postgres_log.SCHEMA}.call for each row execute function audit.refuse();
"""
ROOM = "drop trigger refuse on annals.call; drop function audit.refuse()"


class PostgresLog:
    """A log in a database, whichever server has it."""

    name = "PostgreSQL"
    messages = PostgresMessages
    folder: pathlib.Path

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        """To the server that writes."""
        raise NotImplementedError

    @property
    def data(self) -> pathlib.Path:
        """The folder of that server."""
        raise NotImplementedError

    def kill(self) -> None:
        """Kills that server without a word to anybody."""
        raise NotImplementedError

    def begin(self, tablespace: str = "pg_default") -> None:
        """Makes the database, the role of the servers, and what these need to reach it."""
        # The servers trust the authority of the proxies before this server, and read the password from a file.
        self.certificates = Certificates(self.folder)
        self.password_file = self.folder / "password"
        with self.connect("postgres") as connection:
            connection.execute(f"create database {DATABASE} tablespace {tablespace}")
            connection.execute(f"create role {ROLE} login")
            connection.execute(f"grant create on database {DATABASE} to {ROLE}")
        self.change_password()
        self.tell_password()

    def place(self, ports: list[int]) -> str:
        """The place of the log through these ports, one for each server."""
        options = f"password-file={self.password_file}&sslmode=verify-full&sslrootcert={self.certificates.file}"
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return f"postgres://{ROLE}@{hosts}/{DATABASE}?{options}"

    # The log.

    def prepare(self) -> None:
        """Begins to note what happens to the tables, which are there by now."""
        with self.connect() as connection:
            connection.execute(postgres_log.AUDIT)

    def lease(self) -> dict[str, Any]:
        """The lease as it is; empty without one, and if the server does not answer."""
        with contextlib.suppress(OSError, psycopg.Error), self.connect() as connection:
            return postgres_log.read_lease(connection)
        return {}

    def read(self, history: History) -> None:
        """Adds all that the server holds to a history."""
        with self.connect() as connection:
            connection.execute("checkpoint")
            postgres_log.read_store(connection, self.data, history)

    # Faults of the server.

    def fill(self) -> None:
        """The server says that its disk is full."""
        with self.connect() as connection:
            connection.execute(FULL)

    def make_room(self) -> None:
        with self.connect() as connection:
            connection.execute(ROOM)

    def set_read_only(self, is_read_only: bool) -> None:
        """Transactions of all sessions are read-only from the next one on."""
        with self.connect() as connection:
            connection.execute("set default_transaction_read_only = off")
            value = "set default_transaction_read_only = on" if is_read_only else "reset default_transaction_read_only"
            connection.execute(f"alter system {value}")
            connection.execute("select pg_reload_conf()")

    def change_password(self) -> None:
        """The role gets another password; connections that were there end, as when a manager of secrets changes it."""
        self.password = secrets.token_hex(16)
        with self.connect() as connection:
            connection.execute(f"alter role {ROLE} password '{self.password}'")
            connection.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{ROLE}'")

    def tell_password(self) -> None:
        """The servers find the password that it has now."""
        new = self.password_file.with_suffix(".new")
        new.touch(0o600)
        new.write_text(self.password + "\n")
        new.replace(self.password_file)


class Postgres(PostgresLog):
    """One server."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.disk = folder, folder / "disk"
        self.node = Node(folder)
        self.ports = [self.node.port]
        self.disk.mkdir()
        self.is_mounted = self.mount(f"size={DISK_BYTES}")
        self.node.give(self.disk)
        self.node.run("initdb", *INITDB, "-D", str(self.data))
        (self.data / "pg_hba.conf").write_text(CLIENTS)
        self.node.start()
        with self.connect("postgres") as connection:
            connection.execute(f"create tablespace small location '{self.disk}'")
        self.begin("small")

    @property
    def data(self) -> pathlib.Path:
        return self.node.data

    @property
    def is_up(self) -> bool:
        return self.node.is_up

    def primary(self) -> int:
        """The index of the server that writes."""
        return 0

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        return self.node.connect(database)

    def start(self) -> None:
        self.node.start()

    def kill(self) -> None:
        self.node.kill()

    def signal(self, number: signal.Signals) -> None:
        self.node.signal(number)

    def close(self) -> None:
        self.node.close()

    def mount(self, options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.disk)]
        return subprocess.run(command, capture_output=True).returncode == 0

    def fill(self) -> None:
        """No file of the database can grow any more."""
        if not self.is_mounted:
            return super().fill()
        end = time.monotonic() + START_MAX
        while time.monotonic() < end:
            found = os.statvfs(self.disk)
            used = (found.f_blocks - found.f_bfree) * found.f_frsize
            # It fails if a file has grown meanwhile.
            if self.mount(f"remount,size={used}"):
                return
        raise SystemExit(f"takeovers: the disk at {self.disk} grows too fast to be full")

    def make_room(self) -> None:
        if not self.is_mounted:
            return super().make_room()
        self.mount(f"remount,size={DISK_BYTES}")
