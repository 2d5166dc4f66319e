"""What is tested: a log in a store, and perhaps a store of contents beside it."""
import pathlib
import signal
from typing import Any, Callable, Optional, Protocol

from history import History
from stores.certificates import Certificates
from stores.messages import Messages
from stores.moto import Moto
from stores.patroni import Patroni
from stores.postgres import Postgres
from stores.replicated import Replicated
from stores.s3_log import S3Log


class Log(Protocol):
    """A store that holds a log, as far as each run needs it."""

    name: str
    # Of its servers, of which one writes.
    ports: list[int]
    messages: Callable[[], Messages]
    # Without them, servers reach it without TLS.
    certificates: Optional[Certificates]
    # False after `kill`.
    is_up: bool

    def primary(self) -> int:
        """The index of the server that writes."""
        ...

    def place(self, ports: list[int]) -> str:
        """The place of the log through these ports, one for each server."""
        ...

    def prepare(self) -> None:
        """Begins to note what happens to the log, which is there by now."""
        ...

    def lease(self) -> dict[str, Any]:
        """The lease as it is; empty without one, and if the store does not answer."""
        ...

    def read(self, history: History) -> None:
        """Adds all that the store holds to a history."""
        ...

    def start(self) -> None: ...

    def signal(self, number: signal.Signals) -> None: ...

    def close(self) -> None: ...


class Subject:
    """The stores of a run."""

    def __init__(self, name: str, log: Log, objects: Optional[Moto] = None) -> None:
        self.name, self.log, self.objects = name, log, objects

    @property
    def bucket(self) -> Optional[Moto]:
        """Where the contents are."""
        return self.log if isinstance(self.log, Moto) else self.objects

    def stores(self) -> list[Log | Moto]:
        return [self.log, *([self.objects] if self.objects else [])]

    def heal(self) -> None:
        """Starts what was killed, and lets go on what was stopped."""
        for store in self.stores():
            if not store.is_up:
                store.start()
            store.signal(signal.SIGCONT)

    def read(self, history: History) -> None:
        for store in self.stores():
            store.read(history)

    def close(self) -> None:
        for store in self.stores():
            store.close()


# By name: what it is, in the words of the results page, and what makes it in a folder.
SUBJECTS: dict[str, tuple[str, Callable[[pathlib.Path], Subject]]] = {
    "postgres": ("the log in PostgreSQL", lambda folder: Subject("postgres", Postgres(folder / "store"))),
    "contents": ("the log in PostgreSQL, contents and checkpoints in S3",
                 lambda folder: Subject("contents", Postgres(folder / "store"), Moto(folder / "bucket"))),
    "s3": ("the log in S3", lambda folder: Subject("s3", S3Log(folder / "store"))),
    "replicated": ("the log in PostgreSQL with synchronous standbys, one of which takes the place of the primary",
                   lambda folder: Subject("replicated", Replicated(folder / "store"))),
    "patroni": ("the log in PostgreSQL under Patroni", lambda folder: Subject("patroni", Patroni(folder / "store"))),
}
