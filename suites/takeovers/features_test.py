"""Tests of the rules on features: steps that are right, and for each rule some that are broken in one way, which that rule finds."""
import hashlib
import unittest
from typing import Any, Callable

from checker_test import SECOND, change, right
from clients import secret_of
from history import ACKNOWLEDGED, REFUSED, UNKNOWN, Final, Fault, History, Left, Record, Rewritten, Step, StoredObject
from judge import judge
from replay import Replay

FIRST, OTHER = (hashlib.sha256(text).hexdigest() for text in (b"first", b"other"))


def step(client: str, action: str, subject: str, start: float, position: int = 0, **more: object) -> Step:
    made = Step(client, action, subject, "", "a", "a-1", start, start + 0.5, ACKNOWLEDGED, 200, "", position)
    for member, value in more.items():
        setattr(made, member, value)
    return made


def record(position: int, author: str, message: str, changes: list[dict[str, Any]], key: str = "") -> Record:
    return Record(position, position * SECOND, author, message, changes, None, "", key)


def awaited(name: str, deadline: int) -> list[dict[str, Any]]:
    """The changes of a commit that waits for its confirmation until a second."""
    instant = {"$timestamp": f"1970-01-01T00:00:{deadline:02}Z"}
    return [change("create", f"awaited-{name}", name),
            {"action": "update", "kind": "entity", "id": f"annals-candidate:{name}", "patch": [{"set": "confirm-before", "value": instant}]}]


def put(name: str, digest: str) -> dict[str, Any]:
    return {"action": "create", "kind": "entity", "id": name, "type": "scan", "properties": {"content": {"$content": digest}}}


def used() -> History:
    """The right history, and behind it each feature once."""
    history = right()
    grant = {"action": "create", "kind": "entity", "id": "grant-1", "type": "annals.Grant", "properties": {}}
    reused = {"action": "create", "kind": "entity", "id": "reused-1", "properties": {"v": "w1-6", "secret": secret_of("w1-6")}}
    history.records += [
        record(8, "k0", "k0-1", [change("create", "kept-k0-1", "k0-1")], "aa"),
        record(9, "c0", "", [change("create", "annals-candidate:c0-1"), change("create", "annals-candidate:c0-2")]),
        record(10, "c0", "c0-1", awaited("c0-1", 12)),
        record(11, "c0", "c0-2", awaited("c0-2", 12)),
        record(12, "annals", "candidate c0-2: taken back", [change("delete", "awaited-c0-2")]),
        record(13, "g0", "", [grant]),
        record(14, "g0", "", [change("delete", "grant-1")]),
        record(15, "w1", "w1-6", [reused]),
        record(16, "w1", "w1-7", [change("purge", "reused-1")]),
        record(17, "u0", "u0-1", [put("scan-1", FIRST)]),
    ]
    history.steps = [
        step("k0", "write", "k0-1", 8, 0, outcome=UNKNOWN, status=0, operation="k0-1"),
        step("k0", "write", "k0-1", 9, 8, told={"at": 8, "replayed": True}, operation="k0-1"),
        step("c0", "commit", "awaited-c0-1", 10, 10, operation="c0-1"), step("c0", "confirm", "awaited-c0-1", 11, 11),
        step("c0", "commit", "awaited-c0-2", 11, 11, operation="c0-2"),
        step("g1", "look", "drawer-1", 13.2, 13, told={"v": "x"}), step("g1", "look", "drawer-1", 30, 14, status=404, outcome=REFUSED),
        step("l0", "lease", "lease-1", 20, 0, told={"seconds": 2}), step("l0", "push", "lease-1", 21, 16),
        step("l0", "view", "lease-1", 21.5, 16, told={"v": "lease-1"}),
        step("u0", "put", "scan-1", 17, 17, operation="u0-1", told={"sha256": FIRST}),
        step("d0", "get", "scan-1", 18, 17, told={"sha256": FIRST, "tag": FIRST}),
        step("driver", "compact", "", 40, 17),
    ]
    history.rewritten = [Rewritten(15, 15 * SECOND, "w1", "w1-6", [{"action": "void"}])]
    history.objects = [StoredObject(FIRST, 5, FIRST)]
    for call, position in ((call, position) for position in range(8, 18) for call in [right().calls[-1]]):
        call.first = call.last = position
        call.token, call.inserted = f"t{position}", position + 0.2
        history.calls.append(call)
    # The writes and events of the plain clients are in the right history already.
    history.writes += [written(number) for number in (6, 7)]
    for one in history.records[7:]:
        history.events.append(type(history.events[0])("s1", "a", one.position + 0.9, one.position, one.position, "", one.message))
    history.finals = [Final("a", 17, Replay(history.records).lines())]
    return history


def written(number: int) -> Any:
    made = right().writes[0]
    made.operation, made.id, made.action, made.position, made.tag = f"w1-{number}", "reused-1", "reuse", 9 + number, ""
    made.start, made.end = made.position, made.position + 0.5
    return made


class TheCheckerFinds(unittest.TestCase):
    """Each test breaks a history in one way."""

    def only(self, rule: str, *breaks: Callable[[History], object]) -> None:
        for number, break_it in enumerate(breaks):
            with self.subTest(rule=rule, number=number):
                history = used()
                break_it(history)
                found = {name for name, texts in judge(history).found.items() if texts}
                self.assertIn(rule, found, f"found only {found}")

    def test_nothing_in_a_right_history(self) -> None:
        self.assertEqual({name: texts for name, texts in judge(used()).found.items() if texts}, {})

    def test_a_key_with_two_positions(self) -> None:
        self.only(
            "keys",
            lambda h: h.steps[1].told.update(at=7),
            lambda h: h.records.append(record(18, "k0", "k0-1", [])),
            lambda h: h.records.append(record(18, "k0", "k0-9", [], "aa")),
            lambda h: [setattr(one, "outcome", REFUSED) for one in h.steps[:2]],
        )

    def test_commits_that_are_taken_back_wrongly(self) -> None:
        self.only(
            "confirmations",
            lambda h: h.records.append(record(18, "annals", "", [change("delete", "awaited-c0-1")])),
            lambda h: h.records.append(record(18, "annals", "", [change("delete", "awaited-c0-2")])),
            lambda h: setattr(h.records[11], "instant", 11 * SECOND),
            lambda h: (h.records[11].changes.clear(), setattr(h.calls[-1], "inserted", 1000.0)),
            lambda h: h.records[9].changes.pop(),
        )

    def test_what_is_shown_without_a_grant(self) -> None:
        self.only(
            "grants",
            lambda h: setattr(h.steps[5], "position", 12),
            lambda h: setattr(h.steps[5], "position", 14),
            lambda h: setattr(h.steps[5], "start", 26.0) or setattr(h.steps[5], "end", 26.1),
        )

    def test_state_of_a_lease_that_is_over(self) -> None:
        self.only(
            "leases",
            lambda h: setattr(h.steps[9], "start", 24.0),
            lambda h: setattr(h.steps[9], "process", "b-1"),
            lambda h: setattr(h.steps[8], "outcome", REFUSED),
            lambda h: setattr(h.steps[8], "position", 3),
            lambda h: h.steps.insert(9, step("l0", "end", "lease-1", 19)),
        )

    def test_contents_that_are_lost_wrong_or_left(self) -> None:
        self.only(
            "contents",
            lambda h: h.steps[11].told.update(sha256=OTHER),
            lambda h: h.steps[11].told.update(tag=OTHER),
            lambda h: setattr(h.steps[10], "outcome", REFUSED),
            lambda h: h.steps[10].told.update(sha256=OTHER),
            lambda h: h.objects.append(StoredObject(OTHER, 5, OTHER)),
            lambda h: setattr(h.objects[0], "sha256", OTHER),
            lambda h: h.objects.clear(),
        )

    def test_compactions_that_lose_or_leave_something(self) -> None:
        self.only(
            "compactions",
            lambda h: setattr(h.rewritten[0], "instant", 1),
            lambda h: h.rewritten[0].changes.clear(),
            lambda h: h.rewritten.append(Rewritten(8, 8 * SECOND, "k0", "k0-1", [{"action": "void"}])),
            lambda h: h.rewritten.append(Rewritten(99, 1, "", "")),
            lambda h: h.left.append(Left("a row of call", [secret_of("w1-6")])),
        )

    def test_wrong_statuses(self) -> None:
        self.only(
            "statuses",
            lambda h: setattr(h.steps[0], "status", 500),
            lambda h: h.faults.append(Fault(2, "store full", 1, 9, 1, 1.0, "", [507])),
        )


if __name__ == "__main__":
    unittest.main()
