"""Runs an operation in many threads for some time and measures it; see *Loops* in ADAPTERS.md."""
import random
import threading
import time

LATE_NS = 1_000_000
SECOND_NS = 1_000_000_000
TICK_NS = SECOND_NS // 10
# A commit that is still refused this long after the end of the loop is a failure; the lab waits for a minute.
PATIENCE_NS = 40 * SECOND_NS
WAIT_LEAST_SECONDS, WAIT_MOST_SECONDS = 0.000_05, 0.02


class Conflict(Exception):
    """The system has refused a transaction because of another one; it may succeed when it is repeated."""


def rounded(value):
    """Rounds a latency to three significant digits, and keeps a fourth one."""
    digits = len(str(value)) - 4
    return value if digits <= 0 else round(value, -digits)


class Thread:
    """What one thread has measured. Only this thread writes it; it is read after the thread has ended."""

    def __init__(self):
        self.latencies, self.ticks = {}, {}
        self.operations = self.late = self.dropped = self.last_end = 0

    def add(self, start, ended, latency, operations):
        value = rounded(latency)
        self.latencies[value] = self.latencies.get(value, 0) + 1
        tick = (ended - start) // TICK_NS
        self.ticks[tick] = self.ticks.get(tick, 0) + operations
        self.operations += operations
        self.last_end = ended


class Loop:
    def __init__(self, threads, seconds, rate, make):
        """`make(thread)` gives the operation of a thread and what closes it; it runs in this thread.

        An operation takes the time at which the loop ends and returns as how many operations it counts; 0 means that
        there is nothing to do and ends the thread. Units: `rate` in operations per second, 0 is a closed loop.
        """
        self.threads, self.seconds, self.rate, self.make = threads, seconds, rate, make
        self.ready = threading.Barrier(threads + 1)
        self.started = threading.Event()
        self.failure = None
        self.start = 0

    def run(self):
        records = [Thread() for _ in range(self.threads)]
        workers = [threading.Thread(target=self.work, args=item) for item in enumerate(records)]
        try:
            for worker in workers:
                worker.start()
            self.ready.wait()
        except BaseException as error:
            self.fail(error)
            self.ready.abort()
        self.start = time.monotonic_ns()
        self.started.set()
        for worker in workers:
            if worker.ident is not None:
                worker.join()
        if self.failure:
            raise self.failure
        return self.answer(records)

    def fail(self, error):
        # The first failure is the reason; a broken barrier is only its consequence.
        if self.failure is None:
            self.failure = error

    def work(self, thread, record):
        try:
            operation, close = self.make(thread)
        except BaseException as error:
            self.fail(error)
            self.ready.abort()
            return
        try:
            self.ready.wait()
            self.started.wait()
            if operation is not None:
                (self.run_open if self.rate else self.run_closed)(thread, operation, record)
        except BaseException as error:
            self.fail(error)
        finally:
            close()

    def run_closed(self, _thread, operation, record):
        end = self.start + int(self.seconds * SECOND_NS)
        begin = time.monotonic_ns()
        # At least once, so that every thread has a chain, even if the machine started this one after the end.
        is_over = False
        while not is_over and not self.failure:
            count = operation(end)
            if count == 0:
                return
            ended = time.monotonic_ns()
            record.add(self.start, ended, ended - begin, count)
            begin = ended
            is_over = begin >= end

    def run_open(self, thread, operation, record):
        end = self.start + int(self.seconds * SECOND_NS)
        turn = 0
        while not self.failure:
            offset = (thread + turn * self.threads) / self.rate
            if offset >= self.seconds:
                return
            due = self.start + int(offset * SECOND_NS)
            now = time.monotonic_ns()
            while now < due:
                time.sleep((due - now) / SECOND_NS)
                now = time.monotonic_ns()
            if now >= end:
                record.dropped = self.count_due(thread) - turn
                return
            if now - due > LATE_NS:
                record.late += 1
            count = operation(end)
            if count == 0:
                return
            ended = time.monotonic_ns()
            record.add(self.start, ended, ended - due, count)
            turn += 1

    def count_due(self, thread):
        turns = (self.seconds * self.rate - thread) / self.threads
        return max(0, int(turns) + (turns != int(turns)))

    def answer(self, records):
        latencies, ticks = {}, {}
        for record in records:
            for sums, more in ((latencies, record.latencies), (ticks, record.ticks)):
                for key, count in more.items():
                    sums[key] = sums.get(key, 0) + count
        last_end = max(max(record.last_end for record in records), self.start)
        answer = {
            "operations": sum(record.operations for record in records),
            "seconds": (last_end - self.start) / SECOND_NS,
            "ticks": [ticks.get(tick, 0) for tick in range(max(ticks, default=-1) + 1)],
            "latencies_ns": [list(pair) for pair in sorted(latencies.items())],
        }
        if self.rate:
            answer["late"] = sum(record.late for record in records)
            answer["dropped"] = sum(record.dropped for record in records)
        return answer


def repeated(attempt, end):
    """Repeats `attempt` until the system accepts it; returns what it returned and how many tries were refused."""
    wait, retries = WAIT_LEAST_SECONDS, 0
    while True:
        try:
            return attempt(), retries
        except Conflict as conflict:
            retries += 1
            if time.monotonic_ns() - end > PATIENCE_NS:
                raise RuntimeError(f"a commit was refused for 40 s after the end: {conflict}") from None
            # A random wait that doubles: otherwise the same threads meet again at once.
            time.sleep(random.uniform(0, wait))
            wait = min(2 * wait, WAIT_MOST_SECONDS)
