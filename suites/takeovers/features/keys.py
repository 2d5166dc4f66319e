"""Writes that come again with their `Idempotency-Key`, at this server or at another one, and the rule on them."""
import json
from collections import defaultdict
from typing import Any, Iterator

from clients import SHARED, Board
from evidence import Evidence
from features.steps import StepClient
from history import ACKNOWLEDGED, UNKNOWN, Step

TRIES_MAX = 25


def told(headers: dict[str, str], answer: bytes) -> dict[str, Any]:
    """The position of the write itself: an answer to a repeat is the receipt of the first."""
    is_repeat = headers.get("idempotent-replayed") == "true"
    return {"replayed": is_repeat, "at": json.loads(answer)["position"] if is_repeat else int(headers["annals-position"])}


class Repeating(StepClient):
    """Repeats a write until it is acknowledged, and sometimes once more."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "k0", seed)
        self.seed = seed

    def step(self) -> None:
        operation = self.next_operation()
        key = {"Idempotency-Key": f"{self.seed}-{operation}"}
        if self.random.random() < 0.5:
            method, path = "POST", "/v1/entities"
            body: Any = {"id": f"kept-{operation}", "type": "item", "properties": {"v": operation}}
        else:
            method, path, body = "PATCH", f"/v1/entities/{self.random.choice(SHARED)}", {"v": operation}

        def send() -> Step:
            return self.ask("write", operation, method, path, body, operation=operation, headers=key, tell=told)

        # Also after it was acknowledged, as by a client that has lost the answer.
        if self.insist(TRIES_MAX, send) and self.random.random() < 0.4:
            self.pause(0.0, 3.0)
            self.insist(3, send)
        self.pause(0.05, 0.3)


def keys(evidence: Evidence) -> Iterator[str]:
    """However often a write comes with its key, the log has it once, and each answer names that position"""
    tries: dict[str, list[Step]] = defaultdict(list)
    for step in evidence.steps_of("write"):
        tries[step.subject].append(step)
    for subject, steps in tries.items():
        found = [record.position for record in evidence.records_of(subject)]
        named = sorted({step.told["at"] for step in steps if step.outcome == ACKNOWLEDGED})
        if named and (len(found) != 1 or named != found):
            yield f"{subject}: {len(steps)} tries were told the positions {named}, it is in the log at {found}"
        elif not named and len(found) > (1 if any(step.outcome == UNKNOWN for step in steps) else 0):
            yield f"{subject}: expected it at most once, and not at all if all tries were refused; it is in the log at {found}"
    positions: dict[str, int] = {}
    for record in evidence.history.records:
        if record.key and positions.setdefault(record.key, record.position) != record.position:
            yield f"position {record.position}: its key is that of position {positions[record.key]}"
