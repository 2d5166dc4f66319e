"""Faults of the store itself, of the clocks, and in the middle of compactions."""
import signal
import threading
import time
from typing import TYPE_CHECKING, Optional

from history import Trouble
from making import Make, Making
from servers import CLOCK_CACHED, Server
from stores.patroni import Patroni
from stores.postgres import PostgresLog
from stores.replicated import Replicated
from stores.s3_log import S3Log

if TYPE_CHECKING:
    from faults import Faults

# A standby whose clock is further from the store's does not take over. S3 tells whole seconds only. Units: seconds.
CLOCKS_APART_MAX, CLOCK_STEP_OF_S3, HOUR = 2.0, 1.0, 3600.0
# So long nobody may take over; the lease lasts 3 s of it.
NOBODY = 7.0


class StoreFaults(Making):
    """Faults that change what the store, or the clock, answers."""

    def __init__(self, faults: "Faults") -> None:
        super().__init__(faults.cluster, faults.board, faults.random)
        self.off = CLOCKS_APART_MAX + 0.5 + (CLOCK_STEP_OF_S3 if isinstance(self.cluster.store, S3Log) else 0)
        self.kinds: dict[str, Make] = {
            "kill writer, clock of a standby an hour off": self.kill_writer_beside_a_wrong_clock,
            f"clocks of the standbys {self.off} s off, writer killed": self.kill_writer_beside_wrong_clocks,
            "clock of the writer an hour behind": self.clock_behind,
            "writer killed in a compaction": self.kill_in_compaction,
            "writer stopped in a compaction": self.stop_in_compaction,
        }
        # Clients get one of these statuses.
        self.expected: dict[str, list[int]] = {}
        if isinstance(self.cluster.store, PostgresLog):
            self.add_faults_of(self.cluster.store)
        if isinstance(self.cluster.store, (Replicated, Patroni)):
            self.replicated = self.cluster.store
            self.kinds.update({"primary killed": self.fail_over, "switch-over of the database": self.switch_over,
                               "database standby killed": self.kill_database_standby})

    def add_faults_of(self, store: PostgresLog) -> None:
        self.postgres = store
        self.kinds.update({
            "store full": self.full,
            "store read-only": self.read_only,
            "password changed": self.change_password,
            "certificate changed": self.change_certificate,
        })
        # While the servers reach nothing, writes wait.
        self.expected.update({"store full": [507], "store read-only": [503]})

    # Clocks.

    def set_clocks(self, servers: list[Server], ahead: float) -> None:
        for server in servers:
            server.set_clock(ahead)
        # Until they have seen it.
        time.sleep(CLOCK_CACHED + 0.5)

    def trouble(self, server: Server, text: str) -> None:
        self.board.history.add(Trouble(server.process_name, text))

    def holder(self) -> Optional[Server]:
        return self.cluster.named(self.cluster.lease().get("address", ""))

    def kill_writer_beside_a_wrong_clock(self, writer: Server) -> Optional[str]:
        wrong = self.random.choice(self.standbys(writer))
        self.set_clocks([wrong], self.random.choice([-HOUR, HOUR]))
        if self.holder() is not writer:
            return "another one took over before"
        writer.kill()
        self.wait_for_takeover(writer)
        if self.holder() is wrong:
            self.trouble(wrong, "took over with a clock that is an hour off")
        return None

    def kill_writer_beside_wrong_clocks(self, writer: Server) -> Optional[str]:
        standbys = self.standbys(writer)
        self.set_clocks(standbys, self.random.choice([-1, 1]) * self.off)
        if self.holder() is not writer:
            return "another one took over before"
        writer.kill()
        time.sleep(NOBODY)
        if (holder := self.holder()) is not writer:
            self.trouble(holder or writer, f"took over with a clock that is {self.off} s off")
        for standby in standbys:
            told = str(standby.ready().get("leaseProblem", ""))
            if "clock" not in told:
                self.trouble(standby, f"expected a warning of the clock in /health/ready, found {told!r}")
        return None

    def clock_behind(self, writer: Server) -> None:
        self.set_clocks([writer], -HOUR)
        self.pause(1, 4)

    def clock_ahead(self, writer: Server) -> None:
        """Drags the instants of all later records along, so it is the last fault of a run."""
        self.set_clocks([writer], HOUR)
        self.pause(1, 3)

    # Compactions.

    def begin_compaction(self, writer: Server) -> None:
        thread = threading.Thread(target=self.cluster.compact, args=(writer,), daemon=True)
        thread.start()
        self.cluster.compactions.append(thread)
        self.pause(0.0, 0.4)

    def kill_in_compaction(self, writer: Server) -> None:
        self.begin_compaction(writer)
        writer.kill()
        self.wait_for_takeover(writer)

    def stop_in_compaction(self, writer: Server) -> None:
        self.begin_compaction(writer)
        writer.signal(signal.SIGSTOP)
        self.wait_for_takeover(writer)
        self.wait_for_write()
        writer.signal(signal.SIGCONT)
        self.pause(1.0, 1.5)

    # PostgreSQL.

    def full(self, writer: Server) -> None:
        self.postgres.fill()
        try:
            self.pause(1.5, 4)
        finally:
            self.postgres.make_room()

    def read_only(self, writer: Server) -> None:
        self.postgres.set_read_only(True)
        try:
            self.pause(1.5, 4)
        finally:
            self.postgres.set_read_only(False)

    def change_password(self, writer: Server) -> None:
        self.postgres.change_password()
        try:
            self.pause(1.5, 6)
        finally:
            self.postgres.tell_password()

    def change_certificate(self, writer: Server) -> None:
        self.postgres.certificates.renew()
        try:
            # Connections that are there know nothing of it.
            for server in self.cluster.servers:
                for proxy in server.to_stores:
                    self.cluster.proxies.call(proxy.cut)
                    proxy.is_open = True
            self.pause(1.5, 6)
        finally:
            self.postgres.certificates.trust()

    # Several servers of PostgreSQL.

    def fail_over(self, writer: Server) -> None:
        self.replicated.kill()
        self.pause(0.0, 3)
        self.replicated.fail_over()

    def switch_over(self, writer: Server) -> None:
        """The primary ends in order, so its standbys have all that it has."""
        self.replicated.stop()
        self.replicated.fail_over()

    def kill_database_standby(self, writer: Server) -> None:
        self.replicated.kill_standby(self.random.random() < 0.5)
        self.pause(0.5, 4)
