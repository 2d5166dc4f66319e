"""The calls of a log in S3 as bytes: docs/logs/s3.md. Numbers have their highest byte first."""
import struct
from dataclasses import dataclass

from stores.postgres_log import READ_LOG, Damage, records_of

# A call: magic, format, flags, first, last, token, term, token of the call before, bytes of the records, two checksums.
HEADER = struct.Struct(">4sHHQQ16sQ16sQII")
SEALED_BYTES = 72
MAGIC, STUB = b"\xa7anc", 1


@dataclass
class StoredCall:
    """A call as an object, or a part of a segment, has it. Without records it is a stub."""

    first: int
    last: int
    token: str
    term: int
    is_stub: bool
    length: int
    index: bytes = b""
    body: bytes = b""

    def records(self) -> list[tuple[int, bytes]]:
        return records_of(self.first, self.last, self.index, self.body)


def call_at(data: bytes, start: int, where: str) -> StoredCall:
    """The call that begins there."""
    if len(data) < start + HEADER.size:
        raise Damage(f"{where}: a call is cut off")
    magic, version, flags, first, last, token, term, _, bytes_, sum_, index_sum = HEADER.unpack_from(data, start)
    if magic != MAGIC or version != 1 or READ_LOG.crc32c(data[start:start + SEALED_BYTES]) != sum_:
        raise Damage(f"{where}: no header of a call at {start}")
    is_stub, count = bool(flags & STUB), last - first + 1
    index_end = start + HEADER.size + (0 if is_stub else 8 * count)
    end = index_end + (0 if is_stub else bytes_)
    index, body = data[start + HEADER.size:index_end], data[index_end:end]
    if not is_stub and (len(body) != bytes_ or READ_LOG.crc32c(index) != index_sum):
        raise Damage(f"{where}: the call at {start} is damaged")
    return StoredCall(first, last, token.hex(), term, is_stub, end - start, index, body)
