"""A bucket of contents and checkpoints: starts Moto, a service of S3 in memory, and reads the bucket with boto3."""
import hashlib
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import boto3
import botocore.client
import botocore.exceptions

from history import History, Left, StoredObject
from stores.http_messages import HttpMessages
from stores.postgres_node import free_port
from stores.postgres_log import secrets_in

START_MAX = 60.0
BUCKET, PREFIX = "library", "annals"
# The key of all clients: Moto takes any.
KEY, SECRET_KEY = "annals", "hunter2"


class Moto:
    """The service. It keeps all in memory, so it is stopped and never killed."""

    name = "S3"
    messages = HttpMessages
    certificates = None
    is_up = True

    def __init__(self, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True)
        self.port = free_port()
        self.credentials = folder / "credentials"
        self.credentials.touch(0o600)
        self.credentials.write_text(f"[default]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET_KEY}\n")
        program = pathlib.Path(sys.executable).parent / "moto_server"
        with (folder / "log").open("wb") as log:
            command = ["setpriv", "--pdeathsig=KILL", str(program), "-H", "127.0.0.1", "-p", str(self.port)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
        end = time.monotonic() + START_MAX
        while True:
            try:
                self.client().create_bucket(Bucket=BUCKET)
                return
            except botocore.exceptions.BotoCoreError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"takeovers: Moto does not start: {error}; see {folder / 'log'}") from error
                time.sleep(0.1)

    def client(self) -> Any:
        # One thread each: clients of boto3 are made for each call.
        config = botocore.client.Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20, s3={"addressing_style": "path"})
        return boto3.session.Session().client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", aws_access_key_id=KEY, aws_secret_access_key=SECRET_KEY,
            region_name="us-east-1", config=config)

    def place(self, ports: list[int]) -> str:
        """The place of the objects through a port."""
        return f"s3://{BUCKET}/{PREFIX}?endpoint=http://127.0.0.1:{ports[0]}&credentials-file={self.credentials}"

    def objects(self, below: str) -> list[tuple[str, bytes]]:
        """The objects below a part of the prefix. Shape: [(name behind it, bytes)], ascending."""
        client, found = self.client(), []
        beginning = f"{PREFIX}/{below}"
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=beginning):
            for item in page.get("Contents", []):
                body = client.get_object(Bucket=BUCKET, Key=item["Key"])["Body"].read()
                found.append((item["Key"].removeprefix(beginning), body))
        return sorted(found)

    def read(self, history: History) -> None:
        """Adds all contents and checkpoints to a history."""
        for name, body in self.objects("objects/"):
            history.add(StoredObject(name, len(body), hashlib.sha256(body).hexdigest()))
            if found := secrets_in(body):
                history.add(Left(f"the object {name}", found))

    def start(self) -> None:
        """It is never down."""

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def close(self) -> None:
        self.signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
