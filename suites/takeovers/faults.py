"""Faults: each is bounded, ends by itself, and counts only if writes were in flight when it began."""
import random
import signal
import time
from typing import Optional

from clients import Board
from history import ACKNOWLEDGED, Fault
from making import HELD, Make, Making
from object_faults import ObjectFaults
from proxies import DROP, HOLD, SWALLOW
from servers import Cluster, Server
from store_faults import StoreFaults
from stores.postgres import PostgresLog

IN_FLIGHT_MAX, RECOVERY_MAX = 10.0, 40.0
# Kinds that each run has, however few faults it makes: without them it is void.
NEEDED = ("stop writer", "append held, writer killed", "append held, writer stopped", "answer of an append swallowed",
          "requests of the writer lost", "answers to clients lost")
NEEDED_OF_OBJECTS = ("answer of an upload swallowed", "upload lost", "upload held, writer killed")


class Faults(Making):
    """Makes so many faults of all kinds, in an order that the seed decides."""

    def __init__(self, cluster: Cluster, board: Board, seed: int, total: int) -> None:
        super().__init__(cluster, board, random.Random(f"{seed} faults"))
        self.count, self.total = 0, total
        # By kind: the statuses of which writes are to get one.
        self.expected: dict[str, list[int]] = {}
        self.kinds: dict[str, Make] = {
            "kill writer": self.kill_writer,
            "kill writer, slow standbys": self.kill_writer_slow_standbys,
            "kill writer, answer swallowed": self.kill_writer_swallowed,
            "kill standby": self.kill_standby,
            "stop writer": self.stop_writer,
            "stop writer, slow standbys": self.stop_writer_slow_standbys,
            "stop store": self.stop_store,
            "cut writer from store": self.cut_writer_from_store,
            "requests of the writer lost": self.lose_requests_to_store,
            "answers of the store lost": self.lose_answers_of_store,
            "cut standby from store": self.cut_standby_from_store,
            "cut clients from writer": self.cut_clients,
            "requests of clients lost": self.lose_requests_of_clients,
            "answers to clients lost": self.lose_answers_to_clients,
            "answer of an append swallowed": self.swallow,
            "append held": self.hold,
            "append held, writer killed": self.hold_and_kill,
            "append held, writer stopped": self.hold_and_stop,
            "cut standby from store for long": self.cut_standby_for_long,
        }
        if isinstance(cluster.store, PostgresLog):
            self.kinds["kill store"] = self.kill_store
        of_store = StoreFaults(self)
        for more in (of_store, ObjectFaults(self)):
            self.kinds.update(more.kinds)
            self.expected.update(more.expected)
        self.deck = self.first_deck()
        self.last = ("clock of the writer an hour ahead", of_store.clock_ahead)

    def first_deck(self) -> list[str]:
        """The kinds that are needed, and of the others as many as there is room for."""
        needed = [kind for kind in [*NEEDED, *NEEDED_OF_OBJECTS] if kind in self.kinds]
        others = self.random.sample(sorted(set(self.kinds) - set(needed)), len(self.kinds) - len(needed))
        deck = [*needed, *others][:max(len(needed), self.total - 1)]
        self.random.shuffle(deck)
        return deck

    def next_kind(self) -> str:
        if not self.deck:
            self.deck = sorted(self.kinds)
            self.random.shuffle(self.deck)
        return self.deck.pop()

    def make(self, kind: Optional[str] = None) -> Fault:
        """Makes the next fault, ends it, and waits until a write is acknowledged again."""
        self.count += 1
        if kind is None and self.count == self.total:
            kind = self.last[0]
            self.kinds[kind] = self.last[1]
        kind = kind or self.next_kind()
        writer = self.cluster.writer()
        self.cluster.wait_until(lambda: self.board.in_flight > 0, "writes are in flight", IN_FLIGHT_MAX)
        fault = Fault(self.count, kind, time.time(), 0.0, self.board.in_flight, expected=self.expected.get(kind, []))
        fault.note = self.kinds[kind](writer) or ""
        self.cluster.heal()
        fault.end = time.time()
        # Of a fault that ended before, the first write since its begin; of the others, since its end.
        if self.cluster.wait_until(lambda: self.board.acknowledged[0] > fault.end, "a write is acknowledged after a fault", RECOVERY_MAX):
            fault.recovered = self.recovered(fault)
        self.board.history.add(fault)
        time.sleep(self.random.uniform(0.2, 0.8))
        return fault

    def recovered(self, fault: Fault) -> Optional[float]:
        """How long the first acknowledged write took that began after the fault. Units: seconds since it began."""
        first: Optional[float] = None
        # They stand in the order of their ends.
        for write in reversed(self.board.history.writes):
            if write.end < fault.start:
                break
            if write.start > fault.start and write.outcome == ACKNOWLEDGED:
                first = write.end
        return None if first is None else first - fault.start

    def slow(self, writer: Server) -> None:
        """Two standbys that both ask before either has changed anything."""
        for standby in self.standbys(writer):
            standby.to_store.delay = self.random.uniform(0.15, 0.35)

    # Processes.

    def kill_writer(self, writer: Server) -> None:
        writer.kill()
        self.wait_for_takeover(writer)

    def kill_writer_slow_standbys(self, writer: Server) -> None:
        self.slow(writer)
        writer.kill()
        self.wait_for_takeover(writer)
        self.pause(0.5, 1.5)

    def kill_writer_swallowed(self, writer: Server) -> Optional[str]:
        is_caught = self.catch(writer.to_store, SWALLOW)
        self.pause(0.0, 0.05)
        writer.kill()
        self.wait_for_takeover(writer)
        return None if is_caught else "no append came"

    def kill_standby(self, writer: Server) -> None:
        self.random.choice(self.standbys(writer)).kill()
        self.pause(0.2, 2)

    def kill_store(self, writer: Server) -> None:
        assert isinstance(self.cluster.store, PostgresLog)
        self.cluster.store.kill()
        self.pause(0.1, 4)
        self.cluster.store.start()

    def stop_store(self, writer: Server) -> None:
        self.cluster.store.signal(signal.SIGSTOP)
        self.pause(0.5, 6)
        self.cluster.store.signal(signal.SIGCONT)

    def stop_writer(self, writer: Server) -> None:
        writer.signal(signal.SIGSTOP)
        self.wait_for_takeover(writer)
        self.wait_for_write()
        self.pause(0.0, 1.0)
        # It learns of the new writer by the log, and not by the lease.
        writer.to_store.register_delay = 1.0
        writer.signal(signal.SIGCONT)
        self.pause(1.0, 1.5)

    def stop_writer_slow_standbys(self, writer: Server) -> None:
        self.slow(writer)
        self.stop_writer(writer)

    # Cuts.

    def cut_writer_from_store(self, writer: Server) -> None:
        self.cut(writer.to_store, 0.1, 6)

    def cut_standby_from_store(self, writer: Server) -> None:
        self.cut(self.random.choice(self.standbys(writer)).to_store, 0.1, 6)

    def cut_standby_for_long(self, writer: Server) -> None:
        """Longer than a follower may show what grants admit without having read the log."""
        self.cut(self.random.choice(self.standbys(writer)).to_store, 11, 14)

    def cut_clients(self, writer: Server) -> None:
        self.cut(writer.to_clients, 0.1, 2)

    def lose_requests_to_store(self, writer: Server) -> None:
        writer.to_store.requests = DROP
        self.pause(0.5, 7)

    def lose_answers_of_store(self, writer: Server) -> None:
        writer.to_store.answers = DROP
        self.pause(0.5, 7)

    def lose_requests_of_clients(self, writer: Server) -> None:
        writer.to_clients.requests = DROP
        self.pause(0.5, 3)

    def lose_answers_to_clients(self, writer: Server) -> None:
        writer.to_clients.answers = DROP
        self.pause(0.5, 3)

    # Appends.

    def swallow(self, writer: Server) -> Optional[str]:
        is_caught = self.catch(writer.to_store, SWALLOW)
        # Either the connection breaks at once, or the server waits for its own deadline.
        if self.random.random() < 0.5:
            self.pause(0.0, 0.2)
            self.cluster.proxies.call(writer.to_store.heal)
        else:
            self.pause(4, 6)
        return None if is_caught else "no append came"

    def hold(self, writer: Server) -> Optional[str]:
        is_caught = self.catch(writer.to_store, HOLD)
        self.pause(1, HELD)
        writer.to_store.is_released = True
        return None if is_caught else "no append came"

    def hold_and_kill(self, writer: Server) -> Optional[str]:
        is_caught = self.catch(writer.to_store, HOLD)
        begun = time.monotonic()
        self.pause(0.0, 0.5)
        writer.kill()
        self.land_late(writer, begun)
        return None if is_caught else "no append came"

    def hold_and_stop(self, writer: Server) -> Optional[str]:
        is_caught = self.catch(writer.to_store, HOLD)
        begun = time.monotonic()
        self.pause(0.0, 0.5)
        writer.signal(signal.SIGSTOP)
        self.land_late(writer, begun)
        writer.to_store.register_delay = 1.0
        writer.signal(signal.SIGCONT)
        self.pause(1.0, 1.5)
        return None if is_caught else "no append came"

    def land_late(self, writer: Server, begun: float) -> None:
        self.wait_for_takeover(writer)
        self.wait_for_write()
        time.sleep(max(0.0, begun + HELD - time.monotonic()))
        writer.to_store.is_released = True
        time.sleep(0.3)
