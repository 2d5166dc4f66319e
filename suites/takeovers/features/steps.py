"""A client whose requests are noted as steps."""
import json
import time
from typing import Any, Callable, Optional

from clients import PAUSE_AFTER_FAILURE, WAIT, Board, Client, outcome_of
from history import ACKNOWLEDGED, UNKNOWN, UNREACHED, Step
from servers import BROKEN, Server, ask


class StepClient(Client):
    """Sends requests to the server that writes, as far as it knows. Its name is the author of what it writes."""

    def __init__(self, board: Board, name: str, seed: int) -> None:
        super().__init__(board, name, seed)
        self.server = self.servers[0]
        self.count = 0
        self.headers: dict[str, str] = {"Annals-Author": name}

    def pause(self, least: float, most: float) -> None:
        """Waits, but not beyond the end of the run."""
        end = time.monotonic() + self.random.uniform(least, most)
        while not self.board.is_over and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))

    def next_operation(self) -> str:
        self.count += 1
        return f"{self.name}-{self.count}"

    def ask(self, action: str, subject: str, method: str, path: str, body: Any = None, *, operation: str = "",
            headers: Optional[dict[str, str]] = None, server: Optional[Server] = None, wait: float = WAIT,
            tell: Callable[[dict[str, str], bytes], dict[str, Any]] = lambda headers, body: {}) -> Step:
        """Sends a request and notes it. `tell` makes what is noted of an answer of success."""
        asked = server or self.server
        sent = {**self.headers, **(headers or {})}
        if operation:
            sent["Annals-Message"] = operation
        step = Step(self.name, action, subject, operation, asked.name, asked.process_name, time.time(), 0.0, UNKNOWN, 0)
        told = ""
        try:
            step.status, got, answer = ask(asked.to_clients.port, method, path, sent, body, wait)
            step.outcome, step.position = outcome_of(step.status, got), int(got.get("annals-position", 0))
            told = got.get("annals-writer", "")
            if step.outcome == ACKNOWLEDGED:
                step.told = tell(got, answer)
            elif step.status >= 400 and answer:
                step.problem = json.loads(answer).get("kind", "")
        except ConnectionRefusedError:
            step.outcome = UNREACHED
        except (*BROKEN, ValueError, KeyError) as error:
            step.outcome, step.problem = UNKNOWN, type(error).__name__
        step.end = time.time()
        if asked.process_name != step.process:
            # It was started again meanwhile: nobody knows which process answered.
            step.process = ""
        self.board.history.add(step)
        if server is None and step.status not in (404, 409, 410, 412) and step.outcome != ACKNOWLEDGED:
            self.server = self.next_server(asked, told)
            time.sleep(PAUSE_AFTER_FAILURE)
        return step

    def insist(self, tries: int, send: Callable[[], Step], done: tuple[int, ...] = ()) -> Optional[Step]:
        """Sends a request again until it is acknowledged, or refused with one of these statuses, which say that an earlier try
        was done. `None` if it never was."""
        for _ in range(tries):
            step = send()
            if step.outcome == ACKNOWLEDGED or step.status in done:
                return step
            if step.status in (400, 404, 409, 410, 412) or self.board.is_over:
                return None
            self.pause(0.02, 0.3)
        return None
