"""Judges a history by all rules, and tells whether the run could have found anything."""
import bisect
from dataclasses import dataclass, field
from typing import Iterator

from history import ACKNOWLEDGED, REFUSED, UNKNOWN, UNREACHED, Append, Call, History
from rules import RULES, Evidence

# So many violations of one rule are shown.
SHOWN_MAX = 5
# A run of 200 faults is void with fewer of each; shorter runs need a share of them, and at least one.
UNKNOWN_MIN, FAULTS_FULL = 20, 200


@dataclass
class Verdict:
    """What the rules found, and what happened in the run."""

    found: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    void: list[str] = field(default_factory=list)
    recovered_max: float = 0.0

    @property
    def broken(self) -> set[str]:
        """The rules that are broken."""
        return {rule for rule, found in self.found.items() if found}

    @property
    def is_clean(self) -> bool:
        return not self.broken

    def lines(self) -> Iterator[str]:
        yield ", ".join(f"{name} {count}" for name, count in self.counts.items())
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


def judge(history: History, is_void_checked: bool = True) -> Verdict:
    """Asks each rule. A run without what can go wrong is void."""
    evidence = Evidence(history)
    verdict = Verdict({rule.__name__: list(rule(evidence)) for rule in RULES})
    by_outcome = {name: [write for write in history.writes if write.outcome == name] for name in (ACKNOWLEDGED, REFUSED, UNREACHED, UNKNOWN)}
    landed = [write for write in by_outcome[UNKNOWN] if evidence.records_of(write.operation)]
    late = behind(history.appends, history.calls)
    counted = [fault for fault in history.faults if fault.in_flight]
    verdict.counts = {
        "faults": len(counted),
        "faults without writes in flight": len(history.faults) - len(counted),
        "kinds of faults": len({fault.kind for fault in history.faults}),
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
    # Where the store is made slow for the standbys, the time says nothing.
    kills = [fault.recovered for fault in history.faults
             if fault.kind.startswith("kill writer") and "slow" not in fault.kind and fault.recovered is not None]
    verdict.recovered_max = max(kills, default=0.0)
    if is_void_checked:
        least = max(1, UNKNOWN_MIN * len(history.faults) // FAULTS_FULL)
        wanted = {"unknown and landed": least, "unknown and not landed": least, "tries behind a term": 1, "late landings": 1}
        verdict.void = [f"expected at least {count} {name}, found {verdict.counts[name]}"
                        for name, count in wanted.items() if verdict.counts[name] < count]
    return verdict
