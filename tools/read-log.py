#!/usr/bin/env python3
"""Reads a log folder of Annals with nothing but docs/formats.md and the Python standard library.

    tools/read-log.py [--to-end] [--anchors] [--cascades] FOLDER

FOLDER is a repository or its log folder. Prints one JSON object per record. It exists to prove that docs/formats.md is
complete, and to get your data out on a machine without Annals. It changes nothing, may run beside a writer, and shows
records up to the position in `durable`; `--to-end` reads on to the end of the log, which is safe when nobody writes.
`--cascades` follows the records and adds to each deletion, restoration and purge what it took along.
Exit code 0: all read. 1: damage, a gap or a newer format; stderr names the place. 2: wrong arguments.
"""

import base64
import json
import math
import pathlib
import re
import struct
import sys
import uuid


class Damage(Exception):
    """What was found is not what docs/formats.md allows."""


# --- Log: section "File log" ------------------------------------------------------------------------------------------

CRC_TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (0x82F63B78 if _byte & 1 else 0)
    CRC_TABLE.append(_byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read_manifest(folder):
    """(id of the log, generation); (None, 0) in a log of format 1, which has no manifest."""
    try:
        data = (folder / "manifest").read_bytes()
    except FileNotFoundError:
        return None, 0
    if len(data) < 48 or data[:4] != b"\xa7anm" or u32(data, 4) != crc32c(data[8:48]):
        raise Damage("manifest: damaged")
    if struct.unpack_from("<H", data, 8)[0] > 2:
        raise Damage("manifest: newer format")
    return data[16:32], struct.unpack_from("<Q", data, 32)[0]


def read_durable(folder, log_id):
    """The position up to which the log is synced; None without a whole `durable` file."""
    for _ in range(10):
        try:
            data = (folder / "durable").read_bytes()
        except FileNotFoundError:
            return None
        for length in (48, 24):
            if len(data) >= length and data[:4] == b"\xa7and" and u32(data, 4) == crc32c(data[8:length]):
                if length == 48 and data[24:40] != log_id:
                    raise Damage("durable: of another log")
                return struct.unpack_from("<Q", data, 8)[0]
    return None


def segments_in_force(folder, generation):
    """Shape: [(first position, generation, path)], ascending: of each segment the file of the highest generation."""
    found = {}
    for path in folder.iterdir():
        if name := re.fullmatch(r"(\d{20})(?:-(\d{10}))?\.seg", path.name):
            first, made = int(name[1]), int(name[2] or 0)
            if made <= generation and made >= found.get(first, (0, 0))[1]:
                found[first] = (first, made, path)
    return sorted(found.values())


def segments(folder, log_id, generation):
    """Shape: [(first position, format, path)], ascending, the chain of headers checked."""
    found, previous_first = [], 0
    names = segments_in_force(folder, generation)
    for number, (named_first, named_generation, path) in enumerate(names):
        with path.open("rb") as file:
            header = file.read(64)
        is_whole = len(header) >= 32 and header[:4] == b"\xa7ans" and u32(header, 4) == crc32c(header[8:32])
        form = struct.unpack_from("<H", header, 8)[0] if is_whole else None
        if form == 2:
            is_whole = len(header) == 64 and u32(header, 60) == crc32c(header[32:60])
        if not is_whole:
            if number + 1 == len(names) and path.stat().st_size <= 64:
                break  # It was being created.
            raise Damage(f"{path.name}: bad segment header")
        if form > 2:
            raise Damage(f"{path.name}: newer format")
        first, previous = struct.unpack_from("<QQ", header, 16)
        if form == 2:
            if header[32:48] != log_id:
                raise Damage(f"{path.name}: of another log, or the file manifest is missing")
            if struct.unpack_from("<Q", header, 48)[0] != named_generation:
                raise Damage(f"{path.name}: its name is of another generation")
        if first != named_first or previous != previous_first or (previous == 0) != (first == 1):
            raise Damage(f"{path.name}: gap: the segment before it is missing")
        found.append((first, form, path))
        previous_first = first
    return found


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


FRAME_HEADER_BYTES = {1: 28, 2: 32}
CALL_HEADER_BYTES = 24


def frame_at(data, at, form):
    """(position, index, is_last, payload, end) of the whole frame at `at`; None if there is none."""
    start = at + FRAME_HEADER_BYTES[form]
    if len(data) < start or data[at : at + 4] != b"\xa7anr":
        return None
    salt = data[12:16]
    if form == 2 and u32(data, at + 28) != crc32c(salt + data[at + 8 : at + 28]):
        return None
    length = u32(data, at + 8)
    frame_form, flags, position, index = struct.unpack_from("<HHQI", data, at + 12)
    if form == 2 and flags & 2:
        start += CALL_HEADER_BYTES
    end = start + length
    if length > 67_108_864 or end > len(data) or u32(data, at + 4) != crc32c(salt + data[at + 8 : end]):
        return None
    if frame_form > form or flags & ~(1 if form == 1 else 3):
        raise Damage(f"offset {at}, position {position}: newer format")
    return position, index, bool(flags & 1), data[start:end], end


def has_later_call(data, at, position, form):
    """True if a whole frame after `at` belongs to an append call that starts beyond `position`."""
    while (at := data.find(b"\xa7anr", at + 1)) >= 0:
        frame = frame_at(data, at, form)
        if frame and frame[0] - frame[1] > position:
            return True
    return False


def records(folder, to_end):
    """Yields (position, payload) in order."""
    if (folder / "copying").exists():
        raise Damage("copying: a copy of a log that was cut short")
    log_id, generation = read_manifest(folder)
    durable = read_durable(folder, log_id)
    upto = None if to_end else durable
    expected, chain = 1, segments(folder, log_id, generation)
    for number, (first, form, path) in enumerate(chain):
        if first != expected:
            raise Damage(f"{path.name}: gap: expected position {expected}")
        if upto is not None and first > upto:
            return
        data, at, call = path.read_bytes(), 32 if form == 1 else 64, []
        is_last_segment = number + 1 == len(chain)
        while upto is None or expected + len(call) <= upto:
            try:
                frame = frame_at(data, at, form)
            except Damage as damage:
                raise Damage(f"{path.name}: {damage}") from None
            if frame is None:
                break
            position, index, is_last, payload, end = frame
            if (position, index) != (expected + len(call), len(call)):
                raise Damage(f"{path.name}: offset {at}: gap: expected position {expected + len(call)}, found {position}")
            call.append((position, payload))
            at = end
            if is_last:
                yield from call
                expected, call = expected + len(call), []
        if upto is not None and expected + len(call) > upto:
            yield from call
            return
        is_torn = bool(call) or at < len(data)
        if is_torn and not (is_last_segment and not has_later_call(data, at, expected + len(call), form)):
            raise Damage(f"{path.name}: offset {at}, position {expected + len(call)}: expected a whole frame")
    if durable is not None and expected <= durable:
        raise Damage(f"expected records up to {durable}, found them up to {expected - 1}")


# --- CBOR: RFC 8949, as far as records use it -------------------------------------------------------------------------


class Tag:
    def __init__(self, number, content):
        self.number, self.content = number, content


def cbor(data, at):
    """(item, offset behind it)."""
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    if major == 7:
        if info in (20, 21):
            return info == 21, at
        form = {25: ">e", 26: ">f", 27: ">d"}[info]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if info < 24:
        number = info
    else:
        size = {24: 1, 25: 2, 26: 4, 27: 8}[info]
        number, at = int.from_bytes(data[at : at + size], "big"), at + size
    if major == 0:
        return number, at
    if major == 1:
        return -1 - number, at
    if major in (2, 3):
        if at + number > len(data):
            raise ValueError("a string exceeds the record")
        content = data[at : at + number]
        return (content if major == 2 else content.decode()), at + number
    if major == 6:
        content, at = cbor(data, at)
        return Tag(number, content), at
    items = []
    for _ in range(number * (major - 3)):
        item, at = cbor(data, at)
        items.append(item)
    return (items if major == 4 else dict(zip(items[::2], items[1::2]))), at


# --- Values: section "Values" -----------------------------------------------------------------------------------------


def date_text(days):
    """Days since 1970-01-01 as ISO 8601. Source: Howard Hinnant, chrono-compatible date algorithms."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    text = f"{year:04}" if year >= 0 else f"-{-year:06}"
    return f"{text}-{month:02}-{day_of_year - (153 * shifted + 2) // 5 + 1:02}"


def fraction(micros):
    return f".{micros:06}".rstrip("0") if micros else ""


def instant_text(micros):
    days, rest = divmod(micros, 86_400_000_000)
    seconds, micros = divmod(rest, 1_000_000)
    return f"{date_text(days)}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction(micros)}Z"


def duration_text(micros):
    seconds, rest = divmod(abs(micros), 1_000_000)
    return f"{'-' if micros < 0 else ''}PT{seconds}{fraction(rest)}S"


def decimal_text(exponent, mantissa):
    if isinstance(mantissa, Tag):
        magnitude = int.from_bytes(mantissa.content, "big")
        mantissa = magnitude if mantissa.number == 2 else -1 - magnitude
    digits = f"{abs(mantissa):0{1 - exponent}}"
    whole, part = digits[: len(digits) + exponent], digits[len(digits) + exponent :]
    return f"{'-' if mantissa < 0 else ''}{whole}{'.' + part if part else ''}"


def binary(item):
    """The JSON form of a content, without members and digests of a later version."""
    names = ["md5", "sha", "sha-256", "sha-512"]
    digests = {names[code]: digest.hex() for code, digest in item.get(4, {}).items() if code < len(names)}
    form = {"$content": item[0].hex(), "size": item[1], "mediaType": item[2], "name": item.get(3), "digests": digests}
    return {name: member for name, member in form.items() if member or name == "size"}


def value(item):
    """The JSON form of a value: docs/json.md."""
    if isinstance(item, float):
        return item if math.isfinite(item) else {"$float": "NaN" if math.isnan(item) else f"{item:.0f}"}
    if isinstance(item, bytes):
        return {"$bytes": base64.b64encode(item).decode()}
    if isinstance(item, list):
        return [value(member) for member in item]
    if isinstance(item, dict):
        members = {name: value(member) for name, member in item.items()}
        return {"$map": members} if any(name.startswith("$") for name in members) else members
    if not isinstance(item, Tag):
        return item
    content = item.content
    if item.number in (1001, 1002):
        micros = content.get(1, 0) * 1_000_000 + content.get(-6, 0)
        return {"$timestamp": instant_text(micros)} if item.number == 1001 else {"$duration": duration_text(micros)}
    forms = {
        4: lambda: {"$decimal": decimal_text(*content)},
        37: lambda: {"$uuid": str(uuid.UUID(bytes=content))},
        38: lambda: {"$literal": content[1], "language": content[0]},
        100: lambda: {"$date": date_text(content)},
        258: lambda: {"$set": [value(member) for member in content]},
        266: lambda: {"$iri": content},
        0x616E6E6C: lambda: {"$literal": content[1], "datatype": content[0]},
        0x616E6E63: lambda: binary(content),
    }
    return forms[item.number]()


# --- Records: section "Record payload" --------------------------------------------------------------------------------

# By code: the verb, and the kind of the instance that it names, if it names one.
ENTITY, RELATIONSHIP = "entity", "relationship"
ACTIONS = [("void", None)]
ACTIONS += [(verb, kind) for verb in ("create", "update", "replace", "delete", "restore", "purge") for kind in (ENTITY, RELATIONSHIP)]
ACTIONS += [("classify", ENTITY), ("reclassify", ENTITY), ("declassify", ENTITY), ("define-type", None)]
ACTIONS += [(verb, kind) for verb in ("set-status", "set-provenance", "rehome", "reidentify", "retype") for kind in (ENTITY, RELATIONSHIP)]
ACTIONS += [("relink", RELATIONSHIP), ("save-copy", ENTITY), ("save-copy", RELATIONSHIP), ("save-classification-copy", ENTITY)]
ACTIONS += [("purge-copy", ENTITY), ("purge-copy", RELATIONSHIP), ("purge-classification-copy", ENTITY)]
ACTIONS += [("name-collection", None), ("save-proxy", ENTITY), ("delete", None), ("restore", None)]
KINDS = ["entity", "relationship", "classification"]
VALUE_TYPES = ["any", "boolean", "integer", "float", "decimal", "string", "bytes", "date", "timestamp", "duration"]
VALUE_TYPES += ["uuid", "iri", "list", "map", "literal", "content"]
STEPS = ["set", "unset", "add", "remove", "clear"]


def identifier(item):
    return str(uuid.UUID(bytes=item)) if isinstance(item, bytes) else item


class Reader:
    """Reads the changes of one record, whose names are known."""

    def __init__(self, names, with_anchors):
        self.names, self.with_anchors = names, with_anchors

    def properties(self, item):
        return {self.names[number]: value(member) for number, member in item.items()}

    def classifications(self, items):
        return [{"name": self.names[name], "properties": self.properties(held)} for name, held, *_ in items]

    def patch(self, steps):
        return [self.step(*step) for step in steps]

    def step(self, code, *operands):
        if STEPS[code] == "clear":
            return {"clear": True}
        step = {STEPS[code]: self.names[operands[0]]}
        return step if len(operands) == 1 else {**step, "value": value(operands[1])}

    def anchor(self, item):
        properties, classifications = item
        return {
            "properties": self.properties(properties),
            "classifications": [
                {
                    "name": self.names[name],
                    "version": version,
                    "created": {"instant": instant_text(created), "author": self.names[creator]},
                    "updated": {"instant": instant_text(updated), "author": self.names[updater]},
                    "properties": self.properties(held),
                }
                for name, version, created, creator, updated, updater, held, *_ in classifications
            ],
        }

    def change(self, item, valid_from):
        code = item[0]
        if code >= len(ACTIONS):
            raise Damage(f"newer format: action {code}")
        verb, kind = ACTIONS[code]
        change = {"action": verb}
        if kind:
            change["kind"], change["id"] = kind, identifier(item[1])
        if code in (1, 2, 25, 26, 28, 29, 35):
            change["type"] = self.names[item[2]]
        if code in (2, 27, 29):
            change.update({name: identifier(item[key]) for name, key in (("from", 4), ("to", 5)) if key in item})
        if code in (1, 2, 5, 6, 13, 28, 29, 35):
            change["properties"] = self.properties(item.get(3, {}))
        if 9 in item:
            change["classifications"] = self.classifications(item[9])
        if code in (9, 10):
            change["withRelationships"] = item.get(10, False)
        if code in (13, 14, 15, 33):
            change["classification"] = self.names[item[2]]
        if code in (3, 4, 14):
            change["patch"] = self.patch(item[7])
        if code == 16:
            change["type"] = definition(item[11])
        headers = {12: ("status", str), 13: ("provenance", provenance), 14: ("newId", identifier)}
        headers.update({15: ("collection", str), 16: ("origin", origin)})
        change.update({name: read(item[key]) for key, (name, read) in headers.items() if key in item})
        if 17 in item:
            change["copied"] = [
                {"name": self.names[name], "properties": self.properties(held), "provenance": provenance(given), "origin": origin(of)}
                for name, held, given, of, *_ in item[17]
            ]
        if 18 in item:
            change["instances"] = [{"kind": KINDS[kind], "id": identifier(held)} for kind, held, *_ in item[18]]
        valid_from = item.get(6, valid_from)
        if valid_from is not None:
            change["validFrom"] = instant_text(valid_from)
        if self.with_anchors and 8 in item:
            change["anchor"] = self.anchor(item[8])
        return change


def provenance(item):
    names = ["home", "originKind", "replicatedBy", "license", "maintainedBy", "mappings", "effectiveFrom", "effectiveTo"]
    known = {names[key]: held for key, held in item.items() if key < len(names)}
    return {name: instant_text(held) if name.startswith("effective") else held for name, held in known.items()}


def origin(item):
    version, created, creator, updated, updater, *_ = item
    created, updated = [{"instant": instant_text(at), "author": by} for at, by in ((created, creator), (updated, updater))]
    return {"version": version, "created": created, "updated": updated}


def definition(item):
    defined = {
        "kind": KINDS[item[0]],
        "name": item[1],
        "description": item.get(2, ""),
        "supertypes": item.get(3, []),
        "closed": item.get(4, False),
        "attributes": [attribute(entry) for entry in item.get(5, [])],
    }
    if 6 in item:
        defined["from"], defined["to"] = [{"type": end.get(0), "many": end.get(1, True)} for end in item[6]]
    if 16 in item:
        defined["containment"] = "ordered" if item[16] else "by name"
    if defined["kind"] == "classification":
        defined["appliesTo"] = item.get(7, [])
    return defined


def attribute(item):
    defined = {
        "name": item[0],
        "type": VALUE_TYPES[item.get(1, 0)],
        "many": item.get(2, False),
        "required": item.get(3, False),
        "unique": item.get(4, False),
        "indexed": not item.get(5, False),
    }
    return {**defined, "default": value(item[6])} if 6 in item else defined


# --- Cascades: section "Cascades" -------------------------------------------------------------------------------------


class Instance:
    """An entity, or a relationship with its type and ends."""

    def __init__(self, change, since):
        self.id, self.type, self.ends = change["id"], change.get("type"), None
        self.is_live, self.since, self.place = True, since, None
        self.linked, self.ever = set(), set()  # An entity's relationships; a relationship's ends. Also those of before.


class Follower:
    """Tells what a deletion, restoration or purge takes along."""

    def __init__(self):
        self.known = {ENTITY: {}, RELATIONSHIP: {}}
        self.supertypes, self.containing = {}, set()

    def contains(self, type_name):
        return type_name in self.containing or any(map(self.contains, self.supertypes.get(type_name, [])))

    def follow(self, place, change, since):
        verb, kind = change["action"], change.get("kind")
        known, taken = self.known.get(kind, {}), []
        instance = known.get(change.get("id"))
        if verb == "define-type" and change["type"]["kind"] == RELATIONSHIP:
            declared = change["type"]
            self.supertypes[declared["name"]] = declared["supertypes"]
            if "containment" in declared:
                self.containing.add(declared["name"])
        elif verb in ("create", "save-copy", "save-proxy", "retype", "relink"):
            if instance is None:
                instance = known[change["id"]] = Instance(change, since)
            instance.type = change.get("type", instance.type)
            if kind == RELATIONSHIP:
                ends = instance.ends or (None, None)
                given = [self.known[ENTITY].get(change.get(name)) for name in ("from", "to")]
                instance.ends = tuple(new or old for new, old in zip(given, ends))
                for end in instance.ends:
                    end.linked.add(instance)
                    instance.ever.add(end)
        elif verb == "reidentify":
            known[change["newId"]] = known.pop(change["id"])
            instance.id = change["newId"]
        elif verb in ("delete", "restore"):
            named = [instance] if kind else [self.known[one["kind"]][one["id"]] for one in change["instances"]]
            if verb == "delete":
                self.delete(place, named, taken)
            else:
                self.restore(place, since, named, change.get("withRelationships", False), taken)
        elif verb in ("purge", "purge-copy"):
            self.purge(instance, taken)
        taken = [one for one in taken if one is not instance]
        return {
            "entities": sorted(one.id for one in taken if one.ends is None),
            "relationships": sorted(one.id for one in taken if one.ends is not None),
        }

    def delete(self, place, named, taken):
        for entity in named:
            self.set_live(entity, False, place, None, taken)
            for relationship in [one for one in entity.linked if one.is_live and entity in one.ends]:
                self.set_live(relationship, False, place, None, taken)
                if self.contains(relationship.type) and relationship.ends[0] is entity:
                    self.delete(place, [relationship.ends[1]], taken)

    def restore(self, place, since, named, with_relationships, taken):
        gone = {id(entity): entity.place for entity in named}
        for entity in named:
            self.set_live(entity, True, place, since, taken)
        for entity in [one for one in named if one.ends is None]:
            for relationship in list(entity.linked):
                start, child = relationship.ends
                if relationship.is_live or relationship.place != gone[id(entity)] or entity not in relationship.ends:
                    continue
                went_along = start is entity and self.contains(relationship.type)
                if went_along and not child.is_live and child.place == relationship.place:
                    self.restore(place, since, [child], with_relationships, taken)
                    self.set_live(relationship, True, place, since, taken)
                elif with_relationships and all(end.is_live and end.since <= since for end in relationship.ends):
                    self.set_live(relationship, True, place, since, taken)

    def set_live(self, instance, is_live, place, since, taken):
        if instance.is_live != is_live:
            instance.is_live, instance.place = is_live, place
            instance.since = since if is_live else instance.since
            taken.append(instance)

    def purge(self, instance, taken):
        found, known = [instance], {instance}
        for entity in found:  # It grows.
            for relationship in entity.linked:
                start, child = relationship.ends
                if start is not entity or not self.contains(relationship.type) or child in known:
                    continue
                is_taken = not entity.is_live and not child.is_live and child.place == relationship.place == entity.place
                if relationship.is_live or is_taken:
                    found.append(child)
                    known.add(child)
        gone = {one: None for entity in found for one in [entity, *entity.linked]}
        for one in gone:
            self.known[ENTITY if one.ends is None else RELATIONSHIP].pop(one.id)
            for end in one.ever:
                end.linked.discard(one)
        taken.extend(gone)


def record(position, payload, with_anchors, follower=None):
    try:
        item, end = cbor(payload, 0)
        if end != len(payload):
            raise ValueError("bytes behind the record")
        reader = Reader(item.get(4, []), with_anchors)
        changes = [reader.change(change, item.get(3)) for change in item[5]]
        for number, change in enumerate(changes if follower else []):
            since = item[5][number].get(6, item.get(3, item[0]))
            taken = follower.follow((position, number), change, since)
            if any(taken.values()):
                change["takesAlong"] = taken
        return {
            "position": position,
            "instant": instant_text(item[0]),
            "author": item.get(1, ""),
            "message": item.get(2, ""),
            "changes": changes,
        }
    except (ValueError, LookupError, TypeError, AttributeError, struct.error) as error:
        raise Damage(f"record {position}: {error!r}") from error


def main(arguments):
    flags = {argument for argument in arguments if argument.startswith("--")}
    folders = [argument for argument in arguments if argument not in flags]
    if len(folders) != 1 or flags - {"--to-end", "--anchors", "--cascades"}:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(folders[0])
    folder = folder / "log" if (folder / "log").is_dir() else folder
    try:
        follower = Follower() if "--cascades" in flags else None
        for position, payload in records(folder, "--to-end" in flags):
            found = record(position, payload, "--anchors" in flags, follower)
            print(json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
    except (Damage, OSError) as error:
        print(f"read-log: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
