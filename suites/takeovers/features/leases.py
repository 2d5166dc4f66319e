"""State that is pushed under leases into the operational view, and the rule on it."""
import json
from typing import Any, Iterator

from clients import Board
from evidence import Evidence
from features.steps import StepClient
from history import ACKNOWLEDGED, REFUSED, UNREACHED, Step

TRIES_MAX = 8
VIEWS = 6
# A lease may be in an answer that was made just before its end. Units: seconds.
SLACK = 1.0


class Leasing(StepClient):
    """Opens a lease, pushes state, and looks at it everywhere, also when it is over."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "l0", seed)
        self.insist(TRIES_MAX, lambda: self.ask("tree", "tree", "PUT", "/v1/tree/c", {"a": 1}))

    def step(self) -> None:
        name, seconds = f"lease-{self.next_operation()}", round(self.random.uniform(0.5, 3), 2)

        def noted(_: dict[str, str], __: bytes) -> dict[str, Any]:
            return {"seconds": seconds}

        if not self.insist(TRIES_MAX, lambda: self.ask("lease", name, "POST", "/v1/leases", {"name": name, "seconds": seconds}, tell=noted)):
            return
        pushed = {"operations": [{"action": "merge-tree", "path": f"/{name}", "item": {"v": name}}]}
        self.ask("push", name, "POST", f"/v1/leases/{name}/changes", pushed)
        self.look(name)
        if self.random.random() < 0.3:
            self.ask("renew", name, "POST", f"/v1/leases/{name}/renew", {"seconds": seconds}, tell=noted)
        elif self.random.random() < 0.3:
            self.ask("end", name, "DELETE", f"/v1/leases/{name}")
        for _ in range(VIEWS):
            self.pause(0.1, 1.2)
            self.look(name)

    def look(self, name: str) -> None:
        def told(_: dict[str, str], answer: bytes) -> dict[str, Any]:
            return {"v": json.loads(answer).get("v", "")}

        server = self.server if self.random.random() < 0.5 else self.random.choice(self.servers)
        self.ask("view", name, "GET", f"/v1/operational/{name}", server=server, tell=told)


def end_of(steps: list[Step]) -> float:
    """When a lease is over at the latest: each step may have been done until its end, or, without an answer, later."""
    end = 0.0
    for step in steps:
        if step.outcome in (REFUSED, UNREACHED):
            continue
        if step.action in ("lease", "renew"):
            end = max(end, step.end + step.told["seconds"]) if step.outcome == ACKNOWLEDGED else float("inf")
        elif step.action == "end" and step.outcome == ACKNOWLEDGED:
            end = min(end, step.end)
    return end


def leases(evidence: Evidence) -> Iterator[str]:
    """State of a lease is in no view after its end, nor at another server or in another term than those it was pushed to"""
    by_lease: dict[str, list[Step]] = {}
    for step in evidence.steps_of("lease", "push", "renew", "end"):
        by_lease.setdefault(step.subject, []).append(step)
    # Shape: position, and when the store had it.
    terms = [(record.position, evidence.inserted.get(record.position)) for record in evidence.history.records if record.term is not None]
    for view in evidence.steps_of("view"):
        if view.outcome != ACKNOWLEDGED or not view.told["v"]:
            continue
        steps = by_lease.get(view.subject, [])
        said = f"{view.client} saw {view.subject} at {view.process or view.server}"
        if (late := view.start - end_of([step for step in steps if step.start < view.start])) > SLACK:
            yield f"{said}, {late:.1f} s after its end"
        pushes = [step for step in steps if step.action == "push"]
        if not any(step.outcome not in (REFUSED, UNREACHED) for step in pushes):
            yield f"{said}: nothing was pushed under it"
        for push in pushes:
            if push.process and view.process and push.process != view.process:
                yield f"{said}: it was pushed to {push.process}"
            # Both answers name positions: a term that began between them is known to the server. One that has just begun need not be.
            if push.outcome == ACKNOWLEDGED and any(
                    push.position < term <= view.position and at is not None and at + SLACK < view.start for term, at in terms):
                yield f"{said}, position {view.position}: it was pushed at position {push.position}, in another term"
