"""The rule on compactions: a rewritten log says the same but for what was purged, and nothing has the bytes of that."""
from typing import Any, Iterator

from clients import secret_of
from evidence import Evidence
from features.confirmations import HOLDER
from history import ACKNOWLEDGED, Record
from servers import COMPACT

NO_BYTES = {"$bytes": ""}


def keys_of(changes: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(change["kind"], change["id"]) for change in changes if "kind" in change and "id" in change}


def comparable(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """A change as it was appended, as far as a compaction leaves it: `takesAlong` is what the reader derives, and edits that a
    candidate has no more become empty bytes."""
    kept = {name: member for name, member in before.items() if name != "takesAlong"}
    if before.get("id", "").startswith(HOLDER) and "patch" in before and len(before["patch"]) == len(after.get("patch", [])):
        kept["patch"] = [found if found.get("value") == NO_BYTES and "$bytes" in str(step.get("value")) else step
                         for step, found in zip(before["patch"], after["patch"])]
    return kept


def compactions(evidence: Evidence) -> Iterator[str]:
    """A compaction changes only what purged instances were in, and after it no part of the store has their values"""
    originals = {record.position: record for record in evidence.history.records}
    purged = evidence.replay.purged
    for rewritten in evidence.history.rewritten:
        original = originals.get(rewritten.position)
        said = f"position {rewritten.position}, as it is after a compaction"
        if original is None:
            yield f"{said}: no such record was appended"
            continue
        if (rewritten.instant, rewritten.author, rewritten.message) != (original.instant, original.author, original.message):
            yield f"{said}: another instant, author or message than when it was appended"
        if len(rewritten.changes) != len(original.changes):
            yield f"{said}: {len(rewritten.changes)} changes instead of {len(original.changes)}"
            continue
        for before, after in zip(original.changes, rewritten.changes):
            touches = bool(keys_of([before]) & purged) or "takesAlong" in before or after["action"] in ("delete", "restore")
            if comparable(before, after) != after and not touches:
                yield f"{said}: {after} instead of {before}, of which nothing was purged"
    yield from leftovers(evidence, originals)


def leftovers(evidence: Evidence, originals: dict[int, Record]) -> Iterator[str]:
    """Values of instances that were purged before the last compaction that was done."""
    done = [step.position for step in evidence.steps_of(COMPACT) if step.outcome == ACKNOWLEDGED]
    if not done:
        return
    gone: dict[str, int] = {}
    # Shape: the secrets of an instance that is there.
    held: dict[str, list[str]] = {}
    for record in originals.values():
        if record.position > max(done):
            break
        for change in record.changes:
            if change["action"] == "create" and "secret" in change.get("properties", {}):
                held.setdefault(change["id"], []).append(secret_of(record.message))
            elif change["action"] == "purge":
                gone.update((secret, record.position) for secret in held.pop(change["id"], []))
    for left in evidence.history.left:
        for secret in left.secrets:
            if secret in gone:
                yield f"{left.where} has {secret!r}, whose instance was purged at position {gone[secret]}, before a compaction"
