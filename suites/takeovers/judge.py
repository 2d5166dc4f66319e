"""Judges a history by all rules, and tells whether the run could have found anything."""
import bisect
from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator

from evidence import Evidence
from history import ACKNOWLEDGED, REFUSED, UNKNOWN, UNREACHED, Append, Call, History, ObjectRequest
from proxies import HOLD, LOSE, SWALLOW
from rules import RULES

# So many violations of one rule are shown.
SHOWN_MAX = 5
# A run of 200 faults is void with fewer of each; shorter runs need a share of them, and at least one.
UNKNOWN_MIN, FAULTS_FULL = 20, 200
# What happened to requests for objects, in runs with a bucket.
OF_OBJECTS = {"uploads whose answer was lost": SWALLOW, "lost uploads": LOSE, "uploads that landed in a later term": HOLD}


@dataclass
class Verdict:
    """What the rules found, and what happened in the run."""

    found: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    # The kinds of the faults that count.
    kinds: set[str] = field(default_factory=set)
    recovered_max: float = 0.0

    def add(self, other: "Verdict") -> None:
        """Adds the verdict on a run beside this one."""
        for rule, found in other.found.items():
            self.found.setdefault(rule, []).extend(found)
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.kinds |= other.kinds
        self.recovered_max = max(self.recovered_max, other.recovered_max)

    @property
    def void(self) -> list[str]:
        """What did not happen often enough for the run to prove anything."""
        least = max(1, UNKNOWN_MIN * self.counts["faults"] // FAULTS_FULL)
        wanted = {"unknown and landed": least, "unknown and not landed": least, "tries behind a term": 1, "late landings": 1,
                  **{name: 1 for name in OF_OBJECTS if name in self.counts}}
        return [f"expected at least {count} {name}, found {self.counts[name]}" for name, count in wanted.items() if self.counts[name] < count]

    @property
    def broken(self) -> set[str]:
        """The rules that are broken."""
        return {rule for rule, found in self.found.items() if found}

    @property
    def is_clean(self) -> bool:
        return not self.broken

    def lines(self) -> Iterator[str]:
        yield ", ".join(f"{name} {count}" for name, count in self.counts.items()) + f", kinds of faults {len(self.kinds)}"
        yield f"longest time from a kill -9 of the writer to the first acknowledged write: {self.recovered_max:.1f} s"
        for rule, found in self.found.items():
            for text in found[:SHOWN_MAX]:
                yield f"BROKEN {rule}: {text}"
            if len(found) > SHOWN_MAX:
                yield f"BROKEN {rule}: {len(found) - SHOWN_MAX} more"
        for text in self.void:
            yield f"VOID {text}"


def behind(appends: list[Append], calls: list[Call]) -> list[Append]:
    """The appends that reached the store after a call of a higher term had their position."""
    firsts = [call.first for call in calls]
    found = []
    for append in appends:
        call = calls[bisect.bisect_right(firsts, append.first) - 1] if calls else None
        if call is None or append.sent is None or call.inserted is None:
            continue
        if call.term > append.term and call.inserted < append.sent:
            found.append(append)
    return found


def counts_of_steps(history: History) -> dict[str, int]:
    """How much of each feature was used."""
    done = Counter(step.action for step in history.steps if step.outcome == ACKNOWLEDGED)
    return {
        "writes repeated with their key": sum(bool(step.told.get("replayed")) for step in history.steps),
        "commits that waited for a confirmation": done["commit"], "confirmed": done["confirm"], "revoked grants": done["revoke"],
        "reads under grants": done["look"], "leases": done["lease"], "views of leased state": done["view"], "compactions": done["compact"],
    }


def counts_of_objects(history: History) -> dict[str, int]:
    done = Counter(step.action for step in history.steps if step.outcome == ACKNOWLEDGED)
    begun = [call.inserted for before, call in zip(history.calls, history.calls[1:]) if call.term > before.term and call.inserted]

    def counts(request: ObjectRequest, how: str) -> bool:
        if request.how != how:
            return False
        sent = request.sent
        return how != HOLD or sent is not None and any(request.came < at < sent for at in begun)

    caught = {name: sum(counts(request, how) for request in history.object_requests) for name, how in OF_OBJECTS.items()}
    return {"contents put": done["put"], "contents got": done["get"], "objects at the end": len(history.objects), **caught}


def judge(history: History) -> Verdict:
    """Asks each rule."""
    evidence = Evidence(history)
    verdict = Verdict({rule.__name__: list(rule(evidence)) for rule in RULES})
    by_outcome = {name: [write for write in history.writes if write.outcome == name] for name in (ACKNOWLEDGED, REFUSED, UNREACHED, UNKNOWN)}
    landed = [write for write in by_outcome[UNKNOWN] if evidence.records_of(write.operation)]
    late = behind(history.appends, history.calls)
    counted = [fault for fault in history.faults if fault.in_flight]
    verdict.counts = {
        "faults": len(counted),
        "faults without writes in flight": len(history.faults) - len(counted),
        "terms": len({call.term for call in history.calls}),
        "records": len(history.records),
        "acknowledged": len(by_outcome[ACKNOWLEDGED]),
        "refused": len(by_outcome[REFUSED]),
        "unreached": len(by_outcome[UNREACHED]),
        "unknown and landed": len(landed),
        "unknown and not landed": len(by_outcome[UNKNOWN]) - len(landed),
        "reads": len(history.reads),
        "reads as of an instant": sum(read.at is not None and read.status == 200 for read in history.reads),
        "events": len(history.events),
        "tries behind a term": sum(not append.is_held for append in late),
        "late landings": sum(append.is_held for append in late),
        "answers swallowed": sum(append.is_swallowed for append in history.appends),
    }
    verdict.counts.update(counts_of_steps(history))
    if history.objects:
        verdict.counts.update(counts_of_objects(history))
    # Where the store is made slow for the standbys, the time says nothing.
    kills = [fault.recovered for fault in history.faults
             if fault.kind.startswith("kill writer") and "slow" not in fault.kind and fault.recovered is not None]
    verdict.recovered_max = max(kills, default=0.0)
    verdict.kinds = {fault.kind for fault in counted}
    return verdict
