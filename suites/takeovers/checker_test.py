"""Tests of the judge: a small history that is right, and for each rule some that are broken in one way, which that rule finds.

A history is made anew for each test and then broken by hand, so a rule that finds nothing cannot hide.
"""
import pathlib
import tempfile
import unittest
from typing import Callable

from history import (ACKNOWLEDGED, REFUSED, UNKNOWN, Append, Call, Changed, Event, Fault, Final, History, Read, Record, RegisterValue,
                     Trouble, Write)
from judge import judge
from replay import Replay
from rules import RULES

SECOND = 1_000_000
TAG = "@3f2a9c01"


def change(action: str, name: str, value: str = "", **more: object) -> dict[str, object]:
    members: dict[str, object] = {"action": action, "kind": "entity", "id": name, **more}
    if action == "create":
        members["properties"] = {"v": value}
    if action == "update":
        members["patch"] = [{"set": "v", "value": value}]
    return members


def write(operation: str, action: str, name: str, position: int, version: str, **more: object) -> Write:
    made = Write("w1", operation, action, "entity", name, "a", position, position + 0.5, ACKNOWLEDGED, 200, "", position, version and f'"{version}{TAG}"')
    for member, value in more.items():
        setattr(made, member, value)
    if made.outcome != ACKNOWLEDGED:
        made.position, made.tag = 0, ""
    return made


def read(name: str, position: int, tag: str, value: str, **more: object) -> Read:
    made = Read("r1", "entity", name, "a", "a-1", position + 0.6, position + 0.7, 200, position, 0, None, f'"{tag}{TAG}"', value)
    for member, value_ in more.items():
        setattr(made, member, value_)
    return made


def lease(term: int, writer: str, position: int, settled: int, end: int) -> RegisterValue:
    return RegisterValue("lease", position, [term, writer, 1, True, "a", position, settled * SECOND, end * SECOND])


def right() -> History:
    """Two terms: x is made, changed twice on a tag, the term changes, y is made and purged, x is changed again."""
    history = History()
    history.calls = [Call(1, 1, "t1", 1, "h1", 1.2), Call(2, 3, "t2", 1, "h1", 2.2), Call(4, 4, "t3", 2, "h2", 4.2),
                     Call(5, 5, "t4", 2, "h2", 5.2), Call(6, 6, "t5", 2, "h2", 6.2), Call(7, 7, "t6", 2, "h2", 7.2)]
    history.records = [
        Record(1, 1 * SECOND, "w1", "w1-1", [change("create", "x", "w1-1")]),
        Record(2, 2 * SECOND, "w1", "w1-2", [change("update", "x", "w1-2")]),
        Record(3, 2 * SECOND, "w2", "w2-1", [change("update", "x", "w2-1")]),
        Record(4, 4 * SECOND, "annals", "took over", [], 2, "s2"),
        Record(5, 5 * SECOND, "w1", "w1-3", [change("create", "y", "w1-3")]),
        Record(6, 6 * SECOND, "w1", "w1-4", [change("purge", "y")]),
        Record(7, 7 * SECOND, "w1", "w1-5", [change("update", "x", "w1-5")]),
    ]
    history.writes = [
        write("w1-1", "create", "x", 1, "1.1"),
        write("w1-2", "change", "x", 2, "1.2", if_match=f'"1.1{TAG}"'),
        write("w2-1", "change", "x", 3, "", outcome=UNKNOWN, status=0),
        write("w1-3", "create", "y", 5, "5.1"),
        write("w1-4", "purge", "y", 6, ""),
        write("w1-5", "change", "x", 7, "1.4"),
        write("w3-1", "change", "x", 2, "", outcome=REFUSED, status=412, if_match=f'"1.1{TAG}"'),
        write("w3-2", "change", "x", 4, "", outcome=UNKNOWN, status=504),
    ]
    history.reads = [
        read("x", 1, "1.1", "w1-1"), read("x", 2, "1.2", "w1-2", server="b", process="b-1"), read("x", 3, "1.3", "w2-1"),
        read("y", 4, "", "", status=404), read("y", 5, "5.1", "w1-3"), read("x", 7, "1.4", "w1-5", wait=7),
        read("x", 2, "1.3", "w2-1", at=2 * SECOND + 5, start=4.0, end=4.1), read("x", 0, "", "", at=SECOND // 2, status=404),
    ]
    history.events = [Event("s1", "a", record.position + 0.9, record.position, record.position, "", record.message) for record in history.records]
    history.register = [RegisterValue("upkeep", 0, [1, "s1"]), lease(1, "s1", 0, 0, 3), lease(1, "s1", 3, 3, 4),
                        lease(2, "s2", 3, 3, 4), RegisterValue("upkeep", 3.5, [2, "s2"]), lease(2, "s2", 5, 5, 8)]
    history.finals = [Final(name, 7, Replay(history.records).lines()) for name in ("a", "b", "from zero")]
    history.appends = [Append("a", 4.3, 4, 4, "z1", 1, 4.4), Append("a", 1.9, 4, 4, "z2", 1, 9.0, True), Append("b", 5.0, 5, 5, "t4", 2, 5.1)]
    history.faults = [Fault(1, "kill writer", 3.6, 5.5, 2, 1.9)]
    return history


class TheCheckerFinds(unittest.TestCase):
    """Each test breaks a history in one way."""

    def only(self, rule: str, *breaks: Callable[[History], None]) -> None:
        for number, break_it in enumerate(breaks):
            with self.subTest(rule=rule, number=number):
                history = right()
                break_it(history)
                found = {name for name, texts in judge(history).found.items() if texts}
                self.assertIn(rule, found, f"found only {found}")

    def test_nothing_in_a_right_history(self) -> None:
        verdict = judge(right())
        self.assertEqual({name: texts for name, texts in verdict.found.items() if texts}, {})
        self.assertEqual(verdict.void, [])
        self.assertEqual((verdict.counts["tries behind a term"], verdict.counts["late landings"]), (1, 1))
        self.assertEqual((verdict.counts["unknown and landed"], verdict.counts["unknown and not landed"]), (1, 1))
        self.assertEqual(verdict.recovered_max, 1.9)

    def test_nothing_else_in_a_history_that_was_written_and_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "history"
            right().write_to(path)
            self.assertEqual(list(History.read_from(path).entries()), list(right().entries()))

    def test_wrong_outcomes(self) -> None:
        self.only(
            "outcomes",
            lambda h: setattr(h.writes[5], "position", 6),
            lambda h: setattr(h.writes[0], "operation", "w1-0"),
            lambda h: setattr(h.writes[2], "outcome", REFUSED),
            lambda h: h.records.append(Record(8, 8 * SECOND, "w1", "w1-5", [change("update", "x", "w1-5")])),
            lambda h: h.records.append(Record(8, 8 * SECOND, "w2", "w2-1", [change("update", "x", "w2-1")])),
            lambda h: setattr(h.records[6], "message", "w1-9"),
        )

    def test_gaps_and_doubled_tokens(self) -> None:
        self.only(
            "positions",
            lambda h: h.calls.pop(3),
            lambda h: setattr(h.calls[1], "last", 4),
            lambda h: setattr(h.calls[4], "token", "t1"),
            lambda h: h.records.pop(2),
            lambda h: h.changed.append(Changed(2, "UPDATE")),
        )

    def test_terms_that_fall_or_double(self) -> None:
        self.only(
            "terms",
            lambda h: setattr(h.calls[4], "term", 1),
            lambda h: setattr(h.records[3], "term", None),
            lambda h: setattr(h.records[3], "term", 3),
            lambda h: (setattr(h.records[5], "term", 2), h.records[5].changes.clear()),
            lambda h: setattr(h.calls[5], "writer", "h1"),
        )

    def test_a_register_that_goes_back(self) -> None:
        self.only(
            "register",
            lambda h: h.register.append(lease(1, "s1", 5, 5, 9)),
            lambda h: h.register.append(lease(2, "s2", 6, 4, 9)),
            lambda h: h.register.append(lease(2, "s2", 6, 6, 7)),
            lambda h: h.register.append(RegisterValue("upkeep", 5, [2, "s3"])),
            lambda h: h.register.append(RegisterValue("upkeep", 5, [1, "s1"])),
        )

    def test_instants_that_fall_or_come_before_a_settled_one(self) -> None:
        self.only(
            "instants",
            lambda h: setattr(h.records[4], "instant", 3 * SECOND),
            lambda h: setattr(h.register[5], "elements", lease(2, "s2", 5, 7, 8).elements),
        )

    def test_answers_that_no_position_has(self) -> None:
        self.only(
            "answers",
            lambda h: setattr(h.reads[1], "value", "w2-1"),
            lambda h: setattr(h.reads[1], "tag", f'"1.1{TAG}"'),
            lambda h: setattr(h.reads[3], "position", 5) or setattr(h.reads[3], "wait", 5),
            lambda h: setattr(h.reads[5], "wait", 8),
            lambda h: setattr(h.reads[5], "position", 8),
            lambda h: setattr(h.reads[4], "status", 410),
        )

    def test_what_is_shown_before_the_store_has_it(self) -> None:
        self.only(
            "durability",
            lambda h: setattr(h.reads[2], "end", 2.1),
            lambda h: setattr(h.events[6], "time", 7.1),
            lambda h: setattr(h.writes[5], "end", 7.1),
        )

    def test_answers_that_go_back(self) -> None:
        self.only(
            "monotone",
            lambda h: setattr(h.reads[0], "start", 3.9),
            lambda h: h.reads.append(read("x", 1, "1.1", "w1-1", start=8.0, end=8.1)),
        )

    def test_two_winners_on_one_tag(self) -> None:
        self.only(
            "tags",
            lambda h: setattr(h.writes[2], "if_match", f'"1.1{TAG}"'),
            lambda h: setattr(h.writes[5], "if_match", f'"1.2{TAG}"'),
            lambda h: setattr(h.reads[2], "tag", h.reads[1].tag),
            lambda h: setattr(h.reads[2], "tag", '"1.3@00000000"'),
            lambda h: setattr(h.writes[5], "tag", f'"1.3{TAG}"'),
        )

    def test_a_past_that_changes(self) -> None:
        self.only(
            "past",
            lambda h: setattr(h.reads[6], "value", "w1-2"),
            lambda h: setattr(h.reads[6], "status", 404),
            lambda h: setattr(h.records[3], "instant", 2 * SECOND) or h.records[3].changes.append(change("update", "x", "late")),
            lambda h: setattr(h.reads[7], "at", 3 * SECOND),
        )

    def test_events_that_are_lost_doubled_or_wrong(self) -> None:
        self.only(
            "subscribers",
            lambda h: h.events.pop(2),
            lambda h: h.events.insert(2, h.events[1]),
            lambda h: h.events.insert(1, h.events.pop(2)),
            lambda h: h.events.pop(),
            lambda h: setattr(h.events[4], "message", "w1-4"),
        )

    def test_servers_that_differ_after_quiet(self) -> None:
        self.only(
            "ends",
            lambda h: h.finals[1].lines.pop(),
            lambda h: h.finals[2].lines.append("entity z w9-9"),
            lambda h: setattr(h.finals[0], "position", 6),
            lambda h: h.finals.clear(),
            lambda h: h.records[4].changes.append(change("create", "x", "again")),
            lambda h: h.records[4].changes.append(change("update", "z", "unknown")),
        )

    def test_troubles(self) -> None:
        self.only("troubles", lambda h: h.troubles.append(Trouble("a", "panicked")))

    def test_each_rule_has_a_test(self) -> None:
        folder = pathlib.Path(__file__).parent
        source = "".join((folder / name).read_text(encoding="utf-8") for name in ("checker_test.py", "features_test.py"))
        for rule in RULES:
            self.assertIn(f'"{rule.__name__}"', source)

    def test_a_run_in_which_nothing_could_go_wrong(self) -> None:
        for name, break_it in {
            "unknown and landed": lambda h: h.writes.pop(2),
            "unknown and not landed": lambda h: h.writes.pop(7),
            "tries behind a term": lambda h: h.appends.pop(0),
            "late landings": lambda h: h.appends.pop(1),
        }.items():
            history = right()
            break_it(history)
            self.assertTrue(any(name in text for text in judge(history).void), name)


if __name__ == "__main__":
    unittest.main()
