"""What proxies see of a request to a store."""
from dataclasses import dataclass
from typing import Optional, Protocol

# Kinds of requests that faults are made for.
APPEND, REGISTER, OBJECT = "append", "register", "object"


@dataclass(frozen=True, slots=True)
class AppendKey:
    """What tells an append from all others: positions, token and term."""

    first: int
    last: int
    token: str
    term: int


@dataclass(slots=True)
class Piece:
    """Whole messages, of which at most one is of a kind above. `append` is set for the one that carries an append, `method` and
    `path` for a request of HTTP."""

    data: bytes
    kind: str = ""
    append: Optional[AppendKey] = None
    method: str = ""
    path: str = ""


class Messages(Protocol):
    """The messages of one connection."""

    def feed(self, data: bytes) -> list[Piece]:
        """The whole messages so far; bytes of an unfinished one wait."""
        ...
