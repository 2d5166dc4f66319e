"""What faults are made of: waiting, catching a request, cutting a connection."""
import random
import time
from typing import Callable, Optional

from clients import Board
from proxies import Proxy
from servers import Cluster, Server
from stores.messages import APPEND

# The lease of a server lasts 3 s; a standby that works has taken over by then. Units: seconds.
TAKEOVER_MAX = 20.0
# A request that is held lands after so long.
HELD = 10.0
CATCH_MAX = 3.0

# Makes a fault of the present writer, and ends it or leaves that to `Cluster.heal`. It may tell what did not happen.
Make = Callable[[Server], Optional[str]]


class Making:
    """What faults are made of."""

    def __init__(self, cluster: Cluster, board: Board, randoms: random.Random) -> None:
        self.cluster, self.board, self.random = cluster, board, randoms

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
        """Waits until the new writer has acknowledged a write: before it has, nothing stands behind its term. Slow standbys may take
        the lease from each other first."""
        begun = time.time()
        self.cluster.wait_until(lambda: self.board.acknowledged[0] > begun, "the new writer acknowledges a write", 2 * TAKEOVER_MAX)

    def catch(self, proxy: Proxy, how: str, kind: str = APPEND) -> bool:
        """Does something to the next request of a kind through a proxy. False if none came in time."""
        proxy.has_caught, proxy.next_caught = False, (kind, how)
        end = time.monotonic() + CATCH_MAX
        while not proxy.has_caught and time.monotonic() < end:
            time.sleep(0.005)
        proxy.next_caught = None
        return proxy.has_caught

    def standbys(self, writer: Server) -> list[Server]:
        return [server for server in self.cluster.servers if server is not writer]

    def cut(self, proxy: Proxy, least: float, most: float) -> None:
        self.cluster.proxies.call(proxy.cut)
        self.pause(least, most)
