"""Contents in a bucket that go up and down while servers take over, and the rule on them."""
import hashlib
from typing import Any, Iterator

from clients import WAIT_PATIENT, Board
from evidence import Evidence
from features.steps import StepClient
from history import ACKNOWLEDGED, UNKNOWN
from servers import COMPACT

NAMES = [f"scan-{number}" for number in range(5)]
# Larger ones go up in parts. Units: bytes.
SMALL, LARGE = (1, 60_000), (8 << 20, 9 << 20)


class Uploading(StepClient):
    """Puts contents, some in parts, and purges some of their entities."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "u0", seed)

    def step(self) -> None:
        operation, name = self.next_operation(), self.random.choice(NAMES)
        if self.random.random() < 0.15:
            self.ask("purge", name, "DELETE", f"/v1/entities/{name}?purge=true", operation=operation)
        else:
            content = self.random.randbytes(self.random.randint(*(LARGE if self.random.random() < 0.1 else SMALL)))
            self.put(name, operation, content)
        self.pause(0.1, 0.6)

    def put(self, name: str, operation: str, content: bytes) -> None:
        def told(_: dict[str, str], __: bytes) -> dict[str, Any]:
            return {"sha256": hashlib.sha256(content).hexdigest()}

        self.ask("put", name, "PUT", f"/v1/content/{name}?type=scan", content, operation=operation, wait=WAIT_PATIENT, tell=told)


class Downloading(StepClient):
    """Gets contents from all servers."""

    def __init__(self, board: Board, seed: int) -> None:
        super().__init__(board, "d0", seed)

    def step(self) -> None:
        def told(headers: dict[str, str], answer: bytes) -> dict[str, Any]:
            return {"sha256": hashlib.sha256(answer).hexdigest(), "tag": headers.get("etag", "").strip('"')}

        name = self.random.choice(NAMES)
        self.ask("get", name, "GET", f"/v1/content/{name}", server=self.random.choice(self.servers), wait=WAIT_PATIENT, tell=told)
        self.pause(0.05, 0.3)


def named_in(value: Any) -> Iterator[str]:
    """The digests of the contents in a value."""
    if isinstance(value, dict):
        if "$content" in value:
            yield value["$content"]
        for member in value.values():
            yield from named_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from named_in(member)


def contents(evidence: Evidence) -> Iterator[str]:
    """A named content reads whole with its digest everywhere; one that nothing names is in no object after the grace"""
    # By entity: the positions at which its content changed, with the digest from there on, empty without one.
    past: dict[str, list[tuple[int, str]]] = {}
    kept: dict[str, set[str]] = {}
    for record in evidence.history.records:
        for change in record.changes:
            name = change.get("id", "")
            if name not in NAMES:
                continue
            digests = list(named_in([change.get("properties"), change.get("patch")]))
            if change["action"] == "purge":
                kept.pop(name, None)
                past.setdefault(name, []).append((record.position, ""))
            for digest in digests:
                kept.setdefault(name, set()).add(digest)
                past.setdefault(name, []).append((record.position, digest))
    for step in evidence.steps_of("put"):
        found = [digest for record in evidence.records_of(step.operation) for change in record.changes
                 for digest in named_in([change.get("properties"), change.get("patch")])]
        if step.outcome == ACKNOWLEDGED and found != [step.told["sha256"]]:
            yield f"{step.operation} put {step.told['sha256'][:12]} as {step.subject}: its record names {found}"
        elif step.outcome not in (ACKNOWLEDGED, UNKNOWN) and found:
            yield f"{step.operation} was refused with {step.status}: a record names {found}"
    for step in evidence.steps_of("get"):
        if step.outcome != ACKNOWLEDGED and step.status not in (404, 410):
            continue
        said = f"{step.client} got {step.subject} at {step.server}, position {step.position}"
        named = [digest for position, digest in past.get(step.subject, []) if position <= step.position]
        wanted = named[-1] if named else ""
        if step.outcome == ACKNOWLEDGED and step.told["sha256"] not in (step.told["tag"].split("@")[0], ""):
            yield f"{said}: {step.told['sha256'][:12]} under the tag {step.told['tag']}"
        if step.outcome == ACKNOWLEDGED and step.told["sha256"] != wanted:
            yield f"{said}: {step.told['sha256'][:12]}, the log names {wanted[:12] or 'none'}"
    yield from stored(evidence, set().union(*kept.values()))


def stored(evidence: Evidence, kept: set[str]) -> Iterator[str]:
    """The objects at the end, after a compaction and the grace."""
    if not evidence.history.objects:
        if kept:
            yield f"expected {len(kept)} contents in the bucket, found no object"
        return
    found = {}
    for item in evidence.history.objects:
        digest = item.name.split("~")[0]
        if len(digest) == 64:
            found[digest] = item
            if item.sha256 != digest:
                yield f"the object {item.name}: its bytes have the digest {item.sha256}"
    for digest in sorted(kept - set(found)):
        yield f"the content {digest} is named, and no object has it"
    if any(step.outcome == ACKNOWLEDGED for step in evidence.steps_of(COMPACT)):
        for digest in sorted(set(found) - kept):
            yield f"the object {found[digest].name} is named by nothing, and stayed after a compaction and the grace"
