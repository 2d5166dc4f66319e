"""The log itself in S3, with its register, contents and checkpoints: reads the bucket by docs/logs/s3.md, without code of Annals.

A bucket tells no history of its objects, so the proxies note the calls as they were put and the values of the register that the service took.
"""
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any

import botocore.exceptions

from history import Call, History, Left, RegisterValue
from stores.messages import REGISTER, Piece
from stores.moto import BUCKET, PREFIX, Moto
from stores.postgres_log import READ_LOG, Damage, lease_of, record, register_value, rewritten, secrets_in
from stores.s3_call import StoredCall, call_at

CALL = re.compile(r"\d{20}")
BODY = b"\r\n\r\n"


@dataclass
class Noted:
    """What the proxies have seen."""

    # By first position and token: a call, and when it went on to the service first.
    calls: dict[tuple[int, str], tuple[StoredCall, float]] = field(default_factory=dict)
    register: list[RegisterValue] = field(default_factory=list)


class S3Log(Moto):
    """A bucket with everything."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.ports, self.noted = [self.port], Noted()

    def primary(self) -> int:
        return 0

    def prepare(self) -> None:
        """The proxies note everything from the start."""

    def went_on(self, piece: Piece, at: float) -> None:
        """A request is on its way to the service."""
        if piece.append:
            call = call_at(piece.data.partition(BODY)[2], 0, piece.path)
            self.noted.calls.setdefault((call.first, call.token), (call, at))

    def answered(self, piece: Piece, at: float, status: int) -> None:
        """The service has answered a request."""
        if piece.kind == REGISTER and piece.method == "PUT" and status == 200:
            slot = piece.path.rsplit("/", 1)[1].partition("?")[0]
            self.noted.register.append(register_value(slot, at, piece.data.partition(BODY)[2]))

    def lease(self) -> dict[str, Any]:
        try:
            found = self.client().get_object(Bucket=BUCKET, Key=f"{PREFIX}/register/lease")
            return lease_of(found["Body"].read())
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError):
            return {}

    def read(self, history: History) -> None:
        super().read(history)
        for value in self.noted.register:
            history.add(value)
        follower = READ_LOG.Follower()
        objects = dict(self.objects("log/"))
        current = self.in_force(objects)
        for name in sorted(objects):
            if secrets := secrets_in(objects[name]):
                history.add(Left(f"the object log/{name}", secrets))
            if not CALL.fullmatch(name):
                continue
            call = call_at(objects[name], 0, name)
            original, sent = self.noted.calls.get((call.first, call.token), (call, None))
            history.add(Call(call.first, call.last, call.token, call.term, "", sent))
            if original.is_stub:
                raise Damage(f"{name}: a stub of a call that no proxy has seen")
            for position, payload in original.records():
                history.add(record(position, payload, follower))
                now = current.get(position, payload)
                if now != payload:
                    history.add(rewritten(position, now))

    def in_force(self, objects: dict[str, bytes]) -> dict[int, bytes]:
        """The records as a reader finds them: of segments, and behind them of calls."""
        found: dict[int, bytes] = {}
        for line in objects["manifest"].decode().splitlines():
            words = line.split()
            if words[0] != "segment":
                continue
            directory, name = int(words[4]), words[7]
            data, start = objects[f"segments/{name}"], 0
            while start < directory:
                call = call_at(data, start, name)
                found.update(call.records())
                start += call.length
        for name, data in objects.items():
            if CALL.fullmatch(name) and int(name) > max(found, default=0):
                found.update(call_at(data, 0, name).records())
        return found
