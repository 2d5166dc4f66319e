"""A history, and what is found out about it once for all rules."""
from collections import defaultdict
from typing import Optional

from history import History, Record, Step
from replay import Replay


class Evidence:
    """A history, and what is found out about it once for all rules."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.replay = Replay(history.records)
        self.by_message: dict[str, list[Record]] = defaultdict(list)
        for record in history.records:
            if record.term is None:
                self.by_message[record.message].append(record)
        self.inserted: dict[int, Optional[float]] = {}
        for call in history.calls:
            self.inserted.update((position, call.inserted) for position in range(call.first, call.last + 1))
        self.last = history.records[-1].position if history.records else 0
        # When the store got the last call.
        self.end = max((at for at in self.inserted.values() if at is not None), default=0.0)

    def records_of(self, operation: str) -> list[Record]:
        return self.by_message.get(operation, [])

    def steps_of(self, *actions: str) -> list[Step]:
        return [step for step in self.history.steps if step.action in actions]
