"""What each instance is after each record: the replay of the log, with which the judge compares all answers."""
import bisect
from dataclasses import dataclass, replace
from typing import Any, Iterable, Optional

from history import Record

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class State:
    """An instance that is there, perhaps deleted. A purged one, and one that never was, has no state."""

    birth: int
    version: int
    value: str
    is_live: bool = True
    ends: tuple[str, str] = ("", "")

    @property
    def tag(self) -> str:
        """The tag, without the log."""
        return f"{self.birth}.{self.version}"


class Replay:
    """The states of all instances at all positions."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.past: dict[Key, tuple[list[int], list[Optional[State]]]] = {}
        self.positions: list[int] = []
        self.instants: list[int] = []
        self.wrong: list[str] = []
        self.purged: set[Key] = set()
        for record in records:
            self.positions.append(record.position)
            # They may fall in a broken log; a search needs an order.
            self.instants.append(max(record.instant, self.instants[-1] if self.instants else record.instant))
            for change in record.changes:
                # Declarations of types make no instance.
                if "kind" not in change:
                    continue
                try:
                    self.apply(record.position, change)
                except (KeyError, ValueError) as error:
                    self.wrong.append(f"position {record.position}: {change} does not fit the records before: {error!r}")

    def apply(self, position: int, change: dict[str, Any]) -> None:
        key = (change["kind"], change["id"])
        before, action = self.now(key), change["action"]
        if action == "create":
            if before is not None:
                raise ValueError("it is there already")
            ends = (change.get("from", ""), change.get("to", ""))
            if key[0] == "relationship" and not all((end := self.now(("entity", name))) and end.is_live for name in ends):
                raise ValueError("an end is not there")
            return self.put(position, key, State(position, 1, str(change["properties"].get("v", "")), True, ends))
        if before is None or before.is_live == (action == "restore") and action != "purge":
            raise ValueError("it is not there")
        if action == "update":
            value = next((str(step["value"]) for step in change["patch"] if step.get("set") == "v"), before.value)
            return self.put(position, key, replace(before, version=before.version + 1, value=value))
        if action == "replace":
            return self.put(position, key, replace(before, version=before.version + 1, value=str(change["properties"].get("v", ""))))
        if action == "restore":
            return self.put(position, key, replace(before, version=before.version + 1, is_live=True))
        if action not in ("delete", "purge"):
            raise ValueError("no client does this")
        taken = change.get("takesAlong", {})
        along = [("relationship", name) for name in taken.get("relationships", [])] + [("entity", name) for name in taken.get("entities", [])]
        for one in [key, *along]:
            found = self.now(one)
            if action == "purge":
                self.purged.add(one)
                self.put(position, one, None)
            elif found is not None and found.is_live:
                self.put(position, one, replace(found, version=found.version + 1, is_live=False))

    def put(self, position: int, key: Key, state: Optional[State]) -> None:
        positions, states = self.past.setdefault(key, ([], []))
        positions.append(position)
        states.append(state)

    def now(self, key: Key) -> Optional[State]:
        _, states = self.past.get(key, ([], []))
        return states[-1] if states else None

    def at(self, key: Key, position: int) -> Optional[State]:
        """The state of an instance after the record at a position."""
        positions, states = self.past.get(key, ([], []))
        found = bisect.bisect_right(positions, position)
        return states[found - 1] if found else None

    def between(self, key: Key, first: int, last: int) -> list[Optional[State]]:
        """All states after the records from one position to another."""
        positions, states = self.past.get(key, ([], []))
        begin, end = bisect.bisect_right(positions, first), bisect.bisect_right(positions, last)
        return [self.at(key, first), *states[begin:end]]

    def position_at(self, instant: int) -> int:
        """The last position whose record has this instant or an earlier one; 0 before the first."""
        found = bisect.bisect_right(self.instants, instant)
        return self.positions[found - 1] if found else 0

    def lines(self) -> list[str]:
        """What an export of the present shows, as sorted lines of this form."""
        found = []
        for (kind, name), (_, states) in self.past.items():
            state = states[-1]
            if state is not None and state.is_live:
                found.append(line_of(kind, name, state.value, state.ends))
        return sorted(found)


def line_of(kind: str, name: str, value: str, ends: tuple[str, str]) -> str:
    return " ".join([kind, name, value, *ends]).strip()
