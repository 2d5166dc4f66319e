"""Reads a log in PostgreSQL by psycopg, and decodes it by docs/formats.md and docs/logs/postgresql.md: no code of Annals.

CBOR, checksums and changes are read by `tools/read-log.py`, which was written from docs/formats.md alone.
"""
import importlib.util
import pathlib
import struct
from types import ModuleType
from typing import Any

import psycopg

from history import Call, Changed, History, Record, RegisterValue

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = "annals"

# What happens to the tables, as the store saw it: each call with the time, each value of the register, and what may never happen.
AUDIT = f"""
create schema audit;
create table audit.inserted (first int8 primary key, at timestamptz not null);
create table audit.changed (first int8 not null, how text not null);
create table audit.register (number bigserial primary key, slot text not null, value bytea not null, at timestamptz not null);
create function audit.note_call() returns trigger language plpgsql security definer as $$
begin
    if tg_op = 'INSERT' then
        insert into audit.inserted values (new.first, clock_timestamp());
    else
        insert into audit.changed values (old.first, tg_op);
    end if;
    return null;
end $$;
create function audit.note_register() returns trigger language plpgsql security definer as $$
begin
    if tg_op = 'DELETE' then
        insert into audit.changed values (0, 'register ' || old.slot);
    else
        insert into audit.register (slot, value, at) values (new.slot, new.value, clock_timestamp());
    end if;
    return null;
end $$;
create trigger note after insert or update or delete on {SCHEMA}.call for each row execute function audit.note_call();
create trigger note after insert or update or delete on {SCHEMA}.register for each row execute function audit.note_register();
"""


def read_log_tool() -> ModuleType:
    """The reader of docs/formats.md as a module: its name has a hyphen."""
    spec = importlib.util.spec_from_file_location("read_log", ROOT / "tools" / "read-log.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READ_LOG = read_log_tool()


class Damage(Exception):
    """The store holds what the manual does not allow."""


def records_of(first: int, last: int, index: bytes, body: bytes) -> list[tuple[int, bytes]]:
    """The records of a call. Shape: [(position, payload)]."""
    count = last - first + 1
    if len(index) != 8 * count:
        raise Damage(f"call {first}: expected an index of {count} records, found {len(index)} bytes")
    found, start = [], 0
    for number in range(count):
        end, checksum = struct.unpack_from(">II", index, 8 * number)
        payload = body[start:end]
        if end < start or len(payload) != end - start or READ_LOG.crc32c(payload) != checksum:
            raise Damage(f"position {first + number}: the checksum or the end differs")
        found.append((first + number, payload))
        start = end
    if start != len(body):
        raise Damage(f"call {first}: expected {start} bytes, found {len(body)}")
    return found


def record(position: int, payload: bytes, follower: Any) -> Record:
    """A record as a value. `follower` has seen all records before."""
    item, _ = READ_LOG.cbor(payload, 0)
    shown = READ_LOG.record(position, payload, False, follower)
    term, writer = item.get(6, (None, b""))[:2]
    return Record(position, item[0], shown["author"], shown["message"], shown["changes"], term, writer.hex())


def lease_of(value: bytes) -> dict[str, Any]:
    """The members of a lease: docs/formats.md, "Register"."""
    item, _ = READ_LOG.cbor(value, 0)
    names = ["format", "term", "writer", "count", "is_held", "address", "position", "settled", "end"]
    return dict(zip(names, item))


def register_value(slot: str, time: float, value: bytes) -> RegisterValue:
    item, _ = READ_LOG.cbor(value, 0)
    return RegisterValue(slot, time, [element.hex() if isinstance(element, bytes) else element for element in item[1:]])


def read_store(connection: psycopg.Connection[Any], history: History) -> None:
    """Adds all that the store holds to a history."""
    follower = READ_LOG.Follower()
    rows = connection.execute(
        f"select c.first, c.last, c.token, c.term, c.writer, extract(epoch from i.at)::float8, c.index, c.body "
        f"from {SCHEMA}.call c left join audit.inserted i using (first) order by c.first")
    for first, last, token, term, writer, inserted, index, body in rows:
        history.add(Call(first, last, token.hex, term, writer.hex, inserted))
        for position, payload in records_of(first, last, bytes(index), bytes(body)):
            history.add(record(position, payload, follower))
    values = "select slot, extract(epoch from at)::float8, value from audit.register order by number"
    for slot, time, value in connection.execute(values):
        history.add(register_value(slot, time, bytes(value)))
    for first, how in connection.execute("select first, how from audit.changed"):
        history.add(Changed(first, how))
