"""Grants that are given and revoked while a client reads by them, and the rule on them."""
import json
from typing import Any, Iterator

from clients import Board
from evidence import Evidence
from features.steps import StepClient
from servers import GUESTS

# The type that grants admit, and its one entity.
TYPE, HIDDEN = "drawer", "drawer-1"
TRIES_MAX = 20
# docs/security.md: a server that has not read its log for so long answers no client with grants. Units: seconds.
BOUND, SLACK = 10.0, 1.0


class Granting(StepClient):
    """Gives a grant, and revokes it."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "g0", seed)
        body = {"id": HIDDEN, "type": TYPE, "properties": {"v": HIDDEN}}
        self.insist(TRIES_MAX, lambda: self.ask("hide", HIDDEN, "POST", "/v1/entities", body), (409,))

    def step(self) -> None:
        name = f"grant-{self.next_operation()}"
        body = {"id": name, "type": "annals.Grant", "properties": {"role": GUESTS, "where": TYPE}}
        self.insist(TRIES_MAX, lambda: self.ask("grant", name, "POST", "/v1/entities", body), (409,))
        self.pause(0.5, 4)
        while not self.board.is_over:
            if self.insist(TRIES_MAX, lambda: self.ask("revoke", name, "DELETE", f"/v1/entities/{name}"), (404, 410)):
                break
        self.pause(0.5, 14)


class Guest(StepClient):
    """Reads what grants admit, at all servers."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "g1", seed)
        self.headers = {"Authorization": f"Bearer {board.cluster.token}"}

    def step(self) -> None:
        def told(_: dict[str, str], answer: bytes) -> dict[str, Any]:
            return {"v": json.loads(answer)["properties"].get("v", "")}

        self.ask("look", HIDDEN, "GET", f"/v1/entities/{HIDDEN}", server=self.random.choice(self.servers), tell=told)
        self.pause(0.02, 0.2)


def grants(evidence: Evidence) -> Iterator[str]:
    """Nothing that a grant admits is in an answer at a position before it or behind its revocation, nor later than 10 s after that"""
    # Shape: [(first position with a grant, first position without it)].
    spans: list[tuple[int, int]] = []
    begun: dict[str, int] = {}
    for record in evidence.history.records:
        for change in record.changes:
            if change["action"] == "create" and change.get("type") == "annals.Grant":
                begun[change["id"]] = record.position
            elif change["action"] == "delete" and change.get("id") in begun:
                spans.append((begun.pop(change["id"]), record.position))
    spans += [(position, evidence.last + 1) for position in begun.values()]
    spans.sort()
    for look in evidence.steps_of("look"):
        if look.status != 200:
            continue
        said = f"{look.client} saw {look.subject} at {look.server}, position {look.position}"
        if not any(first <= look.position < end for first, end in spans):
            yield f"{said}: no grant was in force there"
        # The last revocation that the store had so long ago, if no other grant was given before the answer.
        given = [end for first, end in spans if (at := evidence.inserted.get(first)) is not None and at < look.end]
        ended = [evidence.inserted.get(end) for end in given]
        if given and all(at is not None and at + BOUND + SLACK < look.start for at in ended):
            yield f"{said}: the last grant was revoked {look.start - max(at for at in ended if at is not None):.1f} s before"
