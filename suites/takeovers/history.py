"""What happened in a run, and what the store holds at its end: the one input of the judge, a file of JSON lines.

All times are seconds since 1970 by the clock of this machine, which servers, store and clients share. All instants of records are
microseconds since 1970.
"""
import dataclasses
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional

# Outcomes of a write. A request that reached no server is refused, too: the proxy says so, as one of a product would.
ACKNOWLEDGED, REFUSED, UNREACHED, UNKNOWN = "acknowledged", "refused", "unreached", "unknown"


@dataclass(slots=True)
class Write:
    """A request that writes. Its record has the operation as its message."""

    client: str
    operation: str
    action: str
    kind: str
    id: str
    server: str
    start: float
    end: float
    outcome: str
    status: int
    problem: str = ""
    position: int = 0
    tag: str = ""
    if_match: str = ""


@dataclass(slots=True)
class Read:
    """A request that reads one instance, now or as of an instant. `process` names one life of a server."""

    client: str
    kind: str
    id: str
    server: str
    process: str
    start: float
    end: float
    status: int
    position: int
    wait: int = 0
    at: Optional[int] = None
    tag: str = ""
    value: str = ""


@dataclass(slots=True)
class Step:
    """A request of a client that does something which takes several of them: see `features`. `subject` is what it is about; a
    record that it makes has the operation as its message, or the client as its author; `told` is what the answer shows."""

    client: str
    action: str
    subject: str
    operation: str
    server: str
    process: str
    start: float
    end: float
    outcome: str
    status: int
    problem: str = ""
    position: int = 0
    told: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Event:
    """An event of the feed, as a subscriber got it."""

    subscriber: str
    server: str
    time: float
    id: int
    position: int
    instant: str
    message: str


@dataclass(slots=True)
class Append:
    """An append as a proxy before the store saw it: when it came, and when it went on."""

    server: str
    came: float
    first: int
    last: int
    token: str
    term: int
    sent: Optional[float] = None
    is_held: bool = False
    is_swallowed: bool = False


@dataclass(slots=True)
class ObjectRequest:
    """A request for an object that a proxy caught: what it did to it, and when the request went on."""

    server: str
    method: str
    path: str
    how: str
    came: float
    sent: Optional[float] = None


@dataclass(slots=True)
class Fault:
    """A fault, with how many writes were in flight, and how long the next acknowledged one took. `expected`: writes during it get
    one of these statuses."""

    number: int
    kind: str
    start: float
    end: float
    in_flight: int
    recovered: Optional[float] = None
    note: str = ""
    expected: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Call:
    """A row of the table `call`; `inserted` is the clock of the store in the transaction that inserted it."""

    first: int
    last: int
    token: str
    term: int
    writer: str
    inserted: Optional[float] = None


@dataclass(slots=True)
class Record:
    """A record of the log as it was appended. `term` and `term_writer` are those of a record that begins a term, `key` is the
    digest of an idempotency key."""

    position: int
    instant: int
    author: str
    message: str
    changes: list[dict[str, Any]] = field(default_factory=list)
    term: Optional[int] = None
    term_writer: str = ""
    key: str = ""


@dataclass(slots=True)
class Rewritten:
    """A record that a compaction has replaced, as it is at the end."""

    position: int
    instant: int
    author: str
    message: str
    changes: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Left:
    """The secrets (`clients.secret_of`) that a part of the store holds at the end."""

    where: str
    secrets: list[str]


@dataclass(slots=True)
class StoredObject:
    """An object in the bucket at the end."""

    name: str
    size: int
    sha256: str


@dataclass(slots=True)
class RegisterValue:
    """A value that a slot of the register got. Shape: the elements of the CBOR array behind its format."""

    slot: str
    time: float
    elements: list[Any]


@dataclass(slots=True)
class Changed:
    """A call that was changed or removed, which only a compaction may do, and only to the bytes of its records (`rewritten`)."""

    first: int
    how: str


@dataclass(slots=True)
class Final:
    """What a server shows after quiet."""

    server: str
    position: int
    lines: list[str]


@dataclass(slots=True)
class Trouble:
    """What may never happen in a process, such as a panic."""

    server: str
    text: str


# The list of a history that holds entries of a kind.
LISTS: dict[type, str] = {
    Write: "writes", Read: "reads", Step: "steps", Event: "events", Append: "appends", ObjectRequest: "object_requests", Fault: "faults",
    Call: "calls", Record: "records", Rewritten: "rewritten", Left: "left", StoredObject: "objects", RegisterValue: "register",
    Changed: "changed", Final: "finals", Trouble: "troubles",
}
KINDS = {kind.__name__: kind for kind in LISTS}


@dataclass(slots=True)
class History:
    """All of a run, by kind."""

    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    appends: list[Append] = field(default_factory=list)
    object_requests: list[ObjectRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    rewritten: list[Rewritten] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    objects: list[StoredObject] = field(default_factory=list)
    register: list[RegisterValue] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    finals: list[Final] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    def list_of(self, kind: type) -> list[Any]:
        """The list that holds entries of a kind."""
        return getattr(self, LISTS[kind])

    def add(self, entry: Any) -> None:
        """Adds an entry. Threads may call this at the same time."""
        self.list_of(type(entry)).append(entry)

    def entries(self) -> Iterator[Any]:
        for kind in KINDS.values():
            yield from self.list_of(kind)

    def write_to(self, path: pathlib.Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            for entry in self.entries():
                line = {"is": type(entry).__name__, **dataclasses.asdict(entry)}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")

    @staticmethod
    def read_from(path: pathlib.Path) -> "History":
        history = History()
        with path.open(encoding="utf-8") as file:
            for line in file:
                members = json.loads(line)
                history.add(KINDS[members.pop("is")](**members))
        return history
