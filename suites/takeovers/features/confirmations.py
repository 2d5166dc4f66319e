"""Commits of candidates that wait for a confirmation, and the rule on them."""
from collections import defaultdict
from datetime import datetime, timezone
from typing import Any, Iterator

from clients import Board
from evidence import Evidence
from features.steps import StepClient
from history import ACKNOWLEDGED, UNKNOWN

TRIES_MAX = 10
# The prefix of the entity that holds a candidate, and the property with the end of its time: docs/decisions/017-candidates.md.
HOLDER, DEADLINE = "annals-candidate:", "confirm-before"
# A commit is taken back within a minute after an outage. Units: seconds, with those of the outage itself.
LATE_MAX = 90.0


class Confirming(StepClient):
    """Commits candidates, each with one entity, and confirms half of them."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "c0", seed)

    def step(self) -> None:
        operation = self.next_operation()
        place, entity = f"/v1/candidates/{operation}", f"awaited-{operation}"
        made = self.insist(TRIES_MAX, lambda: self.ask("open", entity, "POST", "/v1/candidates", {"name": operation}), (409,))
        body = {"id": entity, "type": "item", "properties": {"v": operation}}
        edited = made and self.insist(
            TRIES_MAX, lambda: self.ask("edit", entity, "POST", f"/v1/entities?candidate={operation}", body), (409,))
        if edited is None:
            return
        within = self.random.uniform(0.5, 5)
        # Once: a second commit of the same edits would be another one.
        committed = self.ask("commit", entity, "POST", f"{place}/commit", {"confirmWithin": f"PT{within:.3f}S"}, operation=operation)
        if committed.outcome in (ACKNOWLEDGED, UNKNOWN) and self.random.random() < 0.6:
            self.pause(0, within * 1.1)
            # Refused with 404 or 412, nothing waits: it was confirmed by an earlier try, was taken back, or was never committed.
            self.insist(TRIES_MAX, lambda: self.ask("confirm", entity, "POST", f"{place}/confirm"))
        self.pause(0.1, 1.0)


def micros_of(value: Any) -> int:
    """A value of a property that is an instant."""
    since = datetime.fromisoformat(value["$timestamp"]) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def confirmations(evidence: Evidence) -> Iterator[str]:
    """A commit that nobody confirmed in time is taken back once, and not before; one that was confirmed never is"""
    confirmed = {step.subject for step in evidence.steps_of("confirm") if step.outcome == ACKNOWLEDGED}
    perhaps = {step.subject for step in evidence.steps_of("confirm") if step.outcome == UNKNOWN}
    created: dict[str, int] = {}
    deleted: dict[str, list[int]] = defaultdict(list)
    deadlines: dict[str, int] = {}
    instants = {record.position: record.instant for record in evidence.history.records}
    for record in evidence.history.records:
        for change in record.changes:
            name = change.get("id", "")
            if name.startswith("awaited-") and change["action"] == "create":
                created[name] = record.position
            for gone in [name, *(one["id"] for one in change.get("instances", []))]:
                if gone.startswith("awaited-") and change["action"] == "delete":
                    deleted[gone].append(record.position)
            if name.startswith(HOLDER) and change["action"] == "update":
                for step in change["patch"]:
                    if step.get("set") == DEADLINE:
                        deadlines["awaited-" + name.removeprefix(HOLDER)] = micros_of(step["value"])
    for name, position in created.items():
        said = f"{name}, committed at position {position}"
        taken = deleted[name]
        deadline = deadlines.get(name)
        if deadline is None:
            yield f"{said}: its record has no end of the time for a confirmation"
        elif name in confirmed and taken:
            yield f"{said}: it was confirmed, and taken back at position {taken[0]}"
        elif len(taken) > 1:
            yield f"{said}: it was taken back at the positions {taken}"
        elif taken and instants[taken[0]] < deadline:
            yield f"{said}: it was taken back at position {taken[0]}, {(deadline - instants[taken[0]]) / 1e6:.3f} s before its time was over"
        elif not taken and name not in confirmed | perhaps and deadline / 1e6 + LATE_MAX < evidence.end:
            yield f"{said}: nobody confirmed it, and it was not taken back in {evidence.end - deadline / 1e6:.0f} s after its time"
