"""The rules of section "Failover": each finds what a history has against it. None of them knows how Annals works inside."""
from collections import Counter
from typing import Callable, Iterator, Optional

import features
from evidence import Evidence
from history import ACKNOWLEDGED, UNKNOWN, Read
from replay import State
from servers import COMPACT

Found = Iterator[str]
# Clocks of one machine are the same, but a time is noted a moment before or after what it is of. Units: seconds.
SLACK = 0.002
LIVE, GONE, NEVER = 200, 410, 404


def outcomes(evidence: Evidence) -> Found:
    """An acknowledged write is in the log once, at its position; a refused one is not; an unanswered one at most once."""
    known = set()
    for write in evidence.history.writes:
        known.add(write.operation)
        found = [record.position for record in evidence.records_of(write.operation)]
        said = f"{write.operation} ({write.action} {write.id} at {write.server}), {write.outcome} with {write.status} {write.problem}"
        if write.outcome == ACKNOWLEDGED:
            if found != [write.position]:
                yield f"{said} at position {write.position}: expected it there once, found it at {found}"
        elif write.outcome == UNKNOWN:
            if len(found) > 1:
                yield f"{said}: expected it at most once, found it at {found}"
        elif found:
            yield f"{said}: expected nothing of it in the log, found it at {found}"
    # What a step has written is for the rule of its feature; the server itself takes commits back.
    known.update(step.operation for step in evidence.history.steps if step.operation)
    others = {"annals", *(step.client for step in evidence.history.steps)}
    for message, records in evidence.by_message.items():
        if message not in known and records[0].author not in others:
            yield f"position {records[0].position}: no client wrote {message!r}"


def positions(evidence: Evidence) -> Found:
    """Positions are dense, calls adjoin, each token is there once, and no call changes."""
    expected, tokens = 1, set()
    for call in evidence.history.calls:
        if call.first != expected or call.last < call.first:
            yield f"call {call.first}–{call.last}: expected it to begin at {expected}"
        if call.token in tokens:
            yield f"call {call.first}: its token {call.token} is that of another call"
        tokens.add(call.token)
        expected = call.last + 1
    found = [record.position for record in evidence.history.records]
    if found != list(range(1, len(found) + 1)):
        yield "records: expected the positions 1, 2, 3 …"
    was_compacted = bool(evidence.steps_of(COMPACT))
    for changed in evidence.history.changed:
        if changed.how != "rewritten" or not was_compacted:
            yield f"call {changed.first}: {changed.how} of what was written before"


def terms(evidence: Evidence) -> Found:
    """Terms never fall, each term has one record and one writer, and no call of a lower term stands behind it."""
    term_records = {record.position: record for record in evidence.history.records if record.term is not None}
    counts = Counter(record.term for record in term_records.values())
    for term, count in counts.items():
        if count > 1:
            yield f"term {term}: expected one record, found {count}"
    writers: dict[int, str] = {}
    term = 0
    for call in evidence.history.calls:
        begun = [record for at in range(call.first, call.last + 1) if (record := term_records.get(at))]
        if call.term < term:
            yield f"call {call.first}: term {call.term} behind term {term}"
        for record in begun:
            if record.term != call.term or record.position != call.first:
                yield f"position {record.position}: the record of term {record.term} in a call of term {call.term}"
        if call.term > term and not begun and call.first > 1:
            yield f"call {call.first}: term {call.term} begins without its record"
        if writers.setdefault(call.term, call.writer) != call.writer:
            yield f"call {call.first}: term {call.term} has another writer than before"
        term = max(term, call.term)


def register(evidence: Evidence) -> Found:
    """Terms of the register never fall; one in force has one writer; no settled instant, and no end of a lease, goes back."""
    writers: dict[int, str] = {}
    last = {"upkeep": 0, "lease": 0}
    settled = end = 0
    for value in evidence.history.register:
        # Of the upkeep the writer is the last element, behind the contents that are leaving.
        term, writer = value.elements[0], value.elements[1 if value.slot == "lease" else -1]
        if term < last[value.slot]:
            yield f"{value.slot}: term {term} after term {last[value.slot]}"
        last[value.slot] = max(last[value.slot], term)
        # Several may claim the lease for a term: only one of them begins it.
        if value.slot == "upkeep" and writers.setdefault(term, writer) != writer:
            yield f"upkeep: term {term} has two writers"
        if value.slot == "lease":
            is_held, told, until = value.elements[3], *value.elements[6:8]
            # A writer that gives the lease back tells nothing more, so it may end earlier.
            if told < settled or is_held and until < end:
                yield f"lease of term {term}: the settled instant {told} after {settled}, or the end {until} after {end}"
            settled, end = max(settled, told), until


def instants(evidence: Evidence) -> Found:
    """Instants never fall, and no record behind the position of a lease has one before the settled instant in it."""
    before = None
    for record in evidence.history.records:
        if before is not None and record.instant < before:
            yield f"position {record.position}: the instant {record.instant} after {before}"
        before = record.instant
    values = [value.elements for value in evidence.history.register if value.slot == "lease"]
    told = sorted((elements[5], elements[6]) for elements in values)
    settled, next_told = 0, 0
    for record in evidence.history.records:
        while next_told < len(told) and told[next_told][0] < record.position:
            settled = max(settled, told[next_told][1])
            next_told += 1
        if record.instant < settled:
            yield f"position {record.position}: the instant {record.instant} before {settled}, which a lease told as settled"


def shows(read: Read, state: Optional[State]) -> bool:
    """True if the answer is that of a state."""
    if read.status == LIVE:
        return state is not None and state.is_live and (read.value, tag_of(read.tag)) == (state.value, state.tag)
    if read.status == GONE:
        return state is not None and not state.is_live
    return state is None


def tag_of(text: str) -> str:
    return text.strip('"').split("@")[0]


def answers(evidence: Evidence) -> Found:
    """Each answer is the replay up to its position, and is not older than the client asked for."""
    for read in evidence.history.reads:
        if read.at is not None or read.status not in (LIVE, GONE, NEVER):
            continue
        key, said = (read.kind, read.id), f"{read.client} read {read.kind} {read.id} at {read.server}, position {read.position}"
        if read.position < read.wait:
            yield f"{said}: expected at least position {read.wait}"
        # An error names the position that the server shows by then, which may be a later one.
        states = [evidence.replay.at(key, read.position)] if read.status == LIVE else evidence.replay.between(key, read.wait, read.position)
        if read.position > evidence.last or not any(shows(read, state) for state in states):
            yield f"{said}: found {read.status} {read.value!r} {read.tag}, the log has {states[-1]}"


def durability(evidence: Evidence) -> Found:
    """Nothing is shown, told or acknowledged before the store has it."""
    def early(what: str, position: int, time: float) -> Found:
        at = evidence.inserted.get(position)
        if at is not None and time < at - SLACK:
            yield f"{what} at position {position}, {at - time:.3f} s before the store had it"

    for read in evidence.history.reads:
        if read.at is None and read.status == LIVE:
            yield from early(f"{read.client} read {read.id} at {read.server}", read.position, read.end)
    for event in evidence.history.events:
        yield from early(f"{event.subscriber} got the event {event.id} of {event.server}", event.position, event.time)
    for write in evidence.history.writes:
        if write.outcome == ACKNOWLEDGED:
            yield from early(f"{write.operation} was acknowledged", write.position, write.end)
    for step in evidence.history.steps:
        if step.outcome == ACKNOWLEDGED and step.position:
            yield from early(f"the step {step.action} of {step.client} at {step.server}", step.position, step.end)


def monotone(evidence: Evidence) -> Found:
    """The answers of one life of a server to one client never go back."""
    shown: dict[tuple[str, str], tuple[float, int]] = {}
    for read in sorted(evidence.history.reads, key=lambda read: read.start):
        if read.at is not None or read.status != LIVE:
            continue
        end, position = shown.get((read.client, read.process), (0.0, 0))
        if read.start >= end and read.position < position:
            yield f"{read.client} read position {read.position} at {read.process} after {position}"
        shown[read.client, read.process] = (read.end, max(position, read.position))


def tags(evidence: Evidence) -> Found:
    """Of the writes on one tag one wins, and a tag has one content, over servers and terms."""
    contents: dict[tuple[str, str, str], str] = {}
    logs = set()
    for read in evidence.history.reads:
        if read.status == LIVE:
            logs.add(read.tag.strip('"').partition("@")[2])
            known = contents.setdefault((read.kind, read.id, read.tag), read.value)
            if known != read.value:
                yield f"{read.client} read {read.id} with the tag {read.tag}: expected {known!r}, found {read.value!r}"
    if len(logs) > 1:
        yield f"expected the tags of one log, found those of {sorted(logs)}"
    won: dict[tuple[str, str], str] = {}
    for write in evidence.history.writes:
        landed = evidence.records_of(write.operation)
        key = (write.kind, write.id)
        if write.tag and write.outcome == ACKNOWLEDGED:
            state = evidence.replay.at(key, write.position)
            if state is None or tag_of(write.tag) != state.tag:
                yield f"{write.operation} was acknowledged with the tag {write.tag}, the log has {state}"
        if not write.if_match or not landed:
            continue
        winner = won.setdefault((write.id, write.if_match), write.operation)
        if winner != write.operation:
            yield f"{write.id}: {winner} and {write.operation} both won on the tag {write.if_match}"
        for record in landed:
            before = evidence.replay.at(key, record.position - 1)
            if before is None or before.tag != tag_of(write.if_match):
                yield f"{write.operation} at position {record.position}: it asked for the tag {write.if_match}, and {before} was there"


def past(evidence: Evidence) -> Found:
    """An answer as of an instant is that of the whole log, whenever it was given."""
    for read in evidence.history.reads:
        key = (read.kind, read.id)
        if read.at is None or read.status not in (LIVE, GONE, NEVER) or key in evidence.replay.purged:
            continue
        state = evidence.replay.at(key, evidence.replay.position_at(read.at))
        if not shows(read, state):
            yield (f"{read.client} read {read.id} at {read.server} as of {read.at} and found {read.status} {read.value!r} {read.tag}; "
                   f"as of that instant the log has {state}")


def subscribers(evidence: Evidence) -> Found:
    """Each subscriber gets each record once, in order."""
    records = {record.position: record for record in evidence.history.records}
    last: dict[str, int] = {}
    for event in evidence.history.events:
        expected = last.get(event.subscriber, 0) + 1
        if event.id != expected or event.position != expected:
            yield f"{event.subscriber} got the event {event.id} with position {event.position} from {event.server}: expected {expected}"
        last[event.subscriber] = event.id
        record = records.get(event.position)
        if record is None or event.message not in ("", record.message):
            yield f"{event.subscriber} got {event.message!r} at position {event.position} from {event.server}: the log has {record and record.message!r}"
    for subscriber, position in last.items():
        if position != evidence.last:
            yield f"{subscriber}: expected events up to {evidence.last} after quiet, found them up to {position}"


def ends(evidence: Evidence) -> Found:
    """After quiet all servers show the same, that of the replay; and records fit those before."""
    yield from evidence.replay.wrong
    wanted = evidence.replay.lines()
    if not evidence.history.finals:
        yield "expected what servers show after quiet, found nothing"
    for final in evidence.history.finals:
        if final.position != evidence.last:
            yield f"{final.server}: expected position {evidence.last} after quiet, found {final.position}"
        found = sorted(final.lines)
        if found != wanted:
            missing, more = sorted(set(wanted) - set(found))[:3], sorted(set(found) - set(wanted))[:3]
            yield f"{final.server}: after quiet it lacks {missing}, and has {more} which the log has not"


def statuses(evidence: Evidence) -> Found:
    """No answer is 500, and in a fault that writes can be told of, they are: 507 for a full store, 503 for one that refuses them"""
    for request in [*evidence.history.writes, *evidence.history.reads, *evidence.history.steps]:
        if request.status == 500:
            yield f"{request.client} at {request.server}, {request.start:.3f}: 500"
    writing = [*evidence.history.writes, *evidence.steps_of("put")]
    for fault in evidence.history.faults:
        seen = Counter(write.status for write in writing if fault.start <= write.start and write.end <= fault.end)
        if fault.expected and not any(seen[status] for status in fault.expected):
            yield f"fault {fault.number}, {fault.kind}: expected writes that get one of {fault.expected}, found {dict(seen)}"


def troubles(evidence: Evidence) -> Found:
    """No process panicked, ended by itself, or did not answer after the faults."""
    for trouble in evidence.history.troubles:
        yield f"{trouble.server}: {trouble.text}"


RULES: tuple[Callable[[Evidence], Found], ...] = (
    outcomes, positions, terms, register, instants, answers, durability, monotone, tags, past, subscribers, ends, *features.RULES, statuses,
    troubles)
