"""Faults: each is bounded, ends by itself, and counts only if writes were in flight when it began."""
import random
import signal
import time
from typing import Callable, Optional

from clients import Board
from history import ACKNOWLEDGED, Fault
from proxies import DROP, HOLD, SWALLOW, Proxy
from servers import Cluster, Server

# The lease of a server lasts 3 s; a standby that works has taken over by then. Units: seconds.
TAKEOVER_MAX = 20.0
# An append that is held lands after so long.
HELD = 10.0
IN_FLIGHT_MAX, RECOVERY_MAX = 10.0, 40.0
CATCH_MAX = 3.0


class Faults:
    """Makes faults of all kinds, in an order that the seed decides."""

    def __init__(self, cluster: Cluster, board: Board, seed: int) -> None:
        self.cluster, self.board = cluster, board
        self.random = random.Random(f"{seed} faults")
        self.count = 0
        self.deck: list[str] = []
        self.kinds: dict[str, Callable[[Server], Optional[str]]] = {
            "kill writer": self.kill_writer,
            "kill writer, slow standbys": self.kill_writer_slow_standbys,
            "kill writer, answer swallowed": self.kill_writer_swallowed,
            "kill standby": self.kill_standby,
            "kill store": self.kill_store,
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
        }

    def next_kind(self) -> str:
        if not self.deck:
            self.deck = sorted(self.kinds)
            self.random.shuffle(self.deck)
        return self.deck.pop()

    def make(self, kind: Optional[str] = None) -> Fault:
        """Makes the next fault, ends it, and waits until a write is acknowledged again."""
        self.count += 1
        kind = kind or self.next_kind()
        writer = self.cluster.writer()
        self.cluster.wait_until(lambda: self.board.in_flight > 0, "writes are in flight", IN_FLIGHT_MAX)
        fault = Fault(self.count, kind, time.time(), 0.0, self.board.in_flight)
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

    # What faults are made of.

    def pause(self, least: float, most: float) -> None:
        time.sleep(self.random.uniform(least, most))

    def wait_for_takeover(self, before: Server) -> bool:
        term = self.cluster.lease().get("term", 0)

        def is_over() -> bool:
            lease = self.cluster.lease()
            server = self.cluster.named(lease.get("address", ""))
            return bool(lease.get("is_held")) and (server is not before or lease.get("term", 0) > term)

        return self.cluster.wait_until(is_over, f"a standby takes over from {before.name}", TAKEOVER_MAX)

    def wait_for_write(self) -> None:
        """Waits until the new writer has acknowledged a write: before it has, nothing stands behind its term."""
        begun = time.time()
        self.cluster.wait_until(lambda: self.board.acknowledged[0] > begun, "the new writer acknowledges a write", TAKEOVER_MAX)

    def catch(self, proxy: Proxy, how: str) -> bool:
        """Does something to the next append through a proxy. False if none came in time."""
        proxy.caught, proxy.next_append = None, how
        end = time.monotonic() + CATCH_MAX
        while proxy.caught is None and time.monotonic() < end:
            time.sleep(0.005)
        proxy.next_append = None
        return proxy.caught is not None

    def standbys(self, writer: Server) -> list[Server]:
        return [server for server in self.cluster.servers if server is not writer]

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

    def cut(self, proxy: Proxy, least: float, most: float) -> None:
        self.cluster.proxies.call(proxy.cut)
        self.pause(least, most)

    def cut_writer_from_store(self, writer: Server) -> None:
        self.cut(writer.to_store, 0.1, 6)

    def cut_standby_from_store(self, writer: Server) -> None:
        self.cut(self.random.choice(self.standbys(writer)).to_store, 0.1, 6)

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
