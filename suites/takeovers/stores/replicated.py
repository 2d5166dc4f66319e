"""The log in PostgreSQL with three servers: a commit waits for one of two standbys, and one of these takes the place of the primary.

A script stands for the manager of such a cluster. It promotes the standby that has received most, so no acknowledged commit is lost.
"""
import contextlib
import pathlib
import shutil
import signal
import time
from typing import Any

import psycopg

from stores.postgres import CLIENTS, INITDB, PostgresLog
from stores.postgres_node import DATABASE, START_MAX, Node

NODES = 3
# Each server may be the primary. A standby that was the primary's rival follows the new one.
SETTINGS = ("synchronous_standby_names=ANY 1 (*)", "hot_standby=on", "wal_keep_size=256MB", "wal_receiver_timeout=5s",
            "wal_retrieve_retry_interval=500ms")


class Replicated(PostgresLog):
    """Three servers of one database."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.nodes = [Node(folder / f"node-{number}", SETTINGS) for number in range(NODES)]
        self.ports = [node.port for node in self.nodes]
        self.leader = 0
        first, *others = self.nodes
        first.run("initdb", *INITDB, "-D", str(first.data))
        (first.data / "pg_hba.conf").write_text(CLIENTS)
        first.start()
        for node in others:
            self.copy(node)
        self.begin()

    def primary(self) -> int:
        """The index of the server that writes."""
        return self.leader

    @property
    def node(self) -> Node:
        return self.nodes[self.leader]

    @property
    def data(self) -> pathlib.Path:
        return self.node.data

    @property
    def is_up(self) -> bool:
        return all(node.is_up for node in self.nodes)

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        return self.node.connect(database)

    def copy(self, node: Node) -> None:
        """Makes a server a standby of the primary, from a new copy of it."""
        shutil.rmtree(node.data)
        node.run("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.node.port), "-U", "lab", "-D", str(node.data), "-R", "-X", "stream",
                 "--checkpoint=fast", "--no-sync")
        node.start()

    def start(self) -> None:
        """Starts what was killed: the primary as such, and standbys."""
        for node in [self.node, *self.nodes]:
            if not node.is_up:
                node.start()

    def kill(self) -> None:
        """Kills the primary."""
        self.node.kill()

    def kill_standby(self, is_first: bool) -> None:
        standbys = [node for node in self.nodes if node is not self.node]
        standbys[0 if is_first else 1].kill()

    def stop(self) -> None:
        """Ends the primary in order."""
        assert self.node.process
        self.node.process.send_signal(signal.SIGINT)
        self.node.process.wait(START_MAX)
        self.node.process = None

    def fail_over(self) -> None:
        """The standby that has received most becomes the primary; the other one follows it, and the old primary is copied from it."""
        old = self.leader
        self.leader = max((number for number in range(NODES) if number != old), key=self.received)
        with self.connect("postgres") as connection:
            connection.execute("select pg_promote()")
        rival = next(node for number, node in enumerate(self.nodes) if number not in (old, self.leader))
        with rival.connect("postgres") as connection:
            place = f"host=127.0.0.1 port={self.node.port} user=lab"
            connection.execute(f"alter system set primary_conninfo = '{place}'")
            connection.execute("select pg_reload_conf()")
        end = time.monotonic() + START_MAX
        while not self.is_followed() and time.monotonic() < end:
            time.sleep(0.05)
        self.copy(self.nodes[old])

    def received(self, number: int) -> int:
        """How much of the write-ahead log a standby has. Units: bytes."""
        with self.nodes[number].connect("postgres") as connection:
            # What it had at its start counts until it receives more.
            row = connection.execute("select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn").fetchone()
            return int(row[0]) if row and row[0] is not None else 0

    def is_followed(self) -> bool:
        with contextlib.suppress(psycopg.Error), self.connect("postgres") as connection:
            row = connection.execute("select count(*) from pg_stat_replication where state = 'streaming'").fetchone()
            return bool(row and row[0])
        return False

    def signal(self, number: signal.Signals) -> None:
        """To the primary."""
        self.node.signal(number)

    def close(self) -> None:
        for node in self.nodes:
            node.close()
