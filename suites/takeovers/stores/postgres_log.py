"""Reads a log in PostgreSQL by psycopg, and decodes it by docs/formats.md and docs/logs/postgresql.md: no code of Annals.

CBOR, checksums and changes are read by `tools/read-log.py`, which was written from docs/formats.md alone.
"""
import importlib.util
import pathlib
import re
import struct
from types import ModuleType
from typing import Any

import psycopg

from history import Call, Changed, History, Left, Record, RegisterValue, Rewritten

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
SCHEMA = "annals"
SECRET = re.compile(rb"secret-[a-z0-9-]+\.")

# What happens to the tables, as the store saw it: each call with the time and its records, before a compaction takes some out;
# each value of the register; and what may never happen.
AUDIT = f"""
create schema audit;
create table audit.inserted (first int8 primary key, at timestamptz not null, index bytea not null, body bytea not null);
create table audit.changed (first int8 not null, how text not null);
create table audit.register (number bigserial primary key, slot text not null, value bytea not null, at timestamptz not null);
create function audit.note_call() returns trigger language plpgsql security definer as $$
begin
    if tg_op = 'INSERT' then
        insert into audit.inserted values (new.first, clock_timestamp(), new.index, new.body);
    elsif tg_op = 'UPDATE' and (new.first, new.last, new.token, new.term, new.writer, new.bytes)
        = (old.first, old.last, old.token, old.term, old.writer, old.bytes) then
        insert into audit.changed values (old.first, 'rewritten');
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
    return Record(position, item[0], shown["author"], shown["message"], shown["changes"], term, writer.hex(), item.get(7, b"").hex())


def rewritten(position: int, payload: bytes) -> Rewritten:
    """A record as a compaction has left it."""
    item, _ = READ_LOG.cbor(payload, 0)
    shown = READ_LOG.record(position, payload, False)
    return Rewritten(position, item[0], shown["author"], shown["message"], shown["changes"])


def secrets_in(data: bytes) -> list[str]:
    return sorted({found.decode() for found in SECRET.findall(data)})


def lease_of(value: bytes) -> dict[str, Any]:
    """The members of a lease: docs/formats.md, "Register"."""
    item, _ = READ_LOG.cbor(value, 0)
    names = ["format", "term", "writer", "count", "is_held", "address", "position", "settled", "end"]
    return dict(zip(names, item))


def register_value(slot: str, time: float, value: bytes) -> RegisterValue:
    item, _ = READ_LOG.cbor(value, 0)
    return RegisterValue(slot, time, plain(item[1:]))


def plain(element: Any) -> Any:
    """With texts of bytes."""
    if isinstance(element, list):
        return [plain(member) for member in element]
    return element.hex() if isinstance(element, bytes) else element


def read_lease(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    row = connection.execute(f"select value from {SCHEMA}.register where slot = 'lease'").fetchone()
    return lease_of(bytes(row[0])) if row else {}


def read_store(connection: psycopg.Connection[Any], data: pathlib.Path, history: History) -> None:
    """Adds all that the store holds to a history."""
    read_calls(connection, history)
    values = "select slot, extract(epoch from at)::float8, value from audit.register order by number"
    for slot, time, value in connection.execute(values):
        history.add(register_value(slot, time, bytes(value)))
    for first, how in connection.execute("select first, how from audit.changed"):
        history.add(Changed(first, how))
    read_leftovers(connection, data, history)


def read_calls(connection: psycopg.Connection[Any], history: History) -> None:
    """The calls with their records as they were appended, and those that a compaction has rewritten."""
    follower = READ_LOG.Follower()
    rows = connection.execute(
        f"select c.first, c.last, c.token, c.term, c.writer, extract(epoch from i.at)::float8, c.index, c.body, "
        f"coalesce(i.index, c.index), coalesce(i.body, c.body) "
        f"from {SCHEMA}.call c left join audit.inserted i using (first) order by c.first")
    for first, last, token, term, writer, inserted, index, body, first_index, first_body in rows:
        history.add(Call(first, last, token.hex, term, writer.hex, inserted))
        now = dict(records_of(first, last, bytes(index), bytes(body)))
        for position, payload in records_of(first, last, bytes(first_index), bytes(first_body)):
            history.add(record(position, payload, follower))
            if now[position] != payload:
                history.add(rewritten(position, now[position]))


def read_leftovers(connection: psycopg.Connection[Any], data: pathlib.Path, history: History) -> None:
    """The secrets in rows, in those that a compaction has prepared, and in the files of the calls, once they are vacuumed."""
    for table in ("call", "rewritten"):
        for (body,) in connection.execute(f"select body from {SCHEMA}.{table}"):
            if found := secrets_in(bytes(body)):
                history.add(Left(f"a row of {table}", found))
    vacuumed = connection.execute(f"select is_vacuumed from {SCHEMA}.log").fetchone()
    files = connection.execute(
        f"select pg_relation_filepath(oid), pg_relation_filepath(reltoastrelid) from pg_class where oid = '{SCHEMA}.call'::regclass").fetchone()
    if not vacuumed or not vacuumed[0] or not files:
        return
    for name in files:
        for path in (data / name).parent.glob(f"{pathlib.Path(name).name}*"):
            if found := secrets_in(path.read_bytes()):
                history.add(Left("a file of the table call", found))
