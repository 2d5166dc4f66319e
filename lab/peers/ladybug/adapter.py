"""Lets the lab measure Ladybug: reads requests from standard input, one a line, and writes one answer a line.

The protocol is ADAPTERS.md. Maven Central has no artifact of Ladybug, so that this adapter is in Python.
"""
import json
import os
import pathlib
import platform
import random
import sys
import time
import traceback

import ladybug

from loops import Loop, repeated
from store import Store

THREADS_MAX, SECONDS_MAX, VERTICES_MAX = 100_000, 86_400, 100_000_000
DEGREE = 3
# A timed walk ends after so many steps, so that it reads the same part of a chain, however long the chain is.
STEPS_MAX = 1_000
# As many iterations, or steps of walks, share one transaction for reading.
TRANSACTION_LENGTH = 1_000


class Skip(Exception):
    """The system cannot do what a request asks for."""


def bipartite_target(number, edge, half):
    return (5 * number + 1 + 3 * edge) % half


def bulk_target(number, edge, vertices):
    return (number * 2654435761 + edge * 40503 + 1) % vertices


def expect(is_right, text):
    if not is_right:
        raise ValueError(text)


def number_of(request, name, least, most, whole=True):
    value = request.get(name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_right = is_number and least <= value <= most and (not whole or value == int(value))
    expect(is_right, f"{name}: expected {'a whole ' if whole else 'a '}number from {least} to {most}, found {value}")
    return int(value) if whole else float(value)


def in_batches(worker, read):
    """The operation of a loop; its reads share a transaction."""
    reads = 0

    def operation(_end):
        nonlocal reads
        operations = read()
        reads += 1
        if reads % TRANSACTION_LENGTH == 0:
            worker.renew()
        return operations

    return operation


class Requests:
    def __init__(self):
        self.store = Store()
        self.is_open = False
        self.chains = []
        self.bipartite_vertices = self.bulk_vertices = 0
        self.answers = {
            "commits": self.commits,
            "chains": self.walk_chains,
            "bipartite-load": self.load_bipartite,
            "bipartite-check": self.check_bipartite,
            "bipartite": self.bipartite,
            "bulk": self.load_bulk,
            "two-hops-of": self.two_hops_of,
            "two-hops": self.two_hops,
            "history-put": self.put_history,
            "history-read": self.read_history,
            "reopen": self.reopen,
            "count": self.count,
            "memory": self.memory,
            "close": self.close,
        }

    def answer(self, request):
        expect(isinstance(request, dict), "a request is a JSON object")
        what = request.get("do")
        if what == "open":
            return self.open(request.get("folder"))
        expect(isinstance(what, str) and what in self.answers, f"do: no request has the name {what}")
        expect(self.is_open, f"{what}: no system is open; send open first")
        return self.answers[what](request)

    def open(self, folder):
        expect(isinstance(folder, str), f"folder: expected a text, found {folder}")
        expect(not self.is_open, "open: a system is open already; send close first")
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        expect(not os.listdir(folder), f"open: {folder} is not empty")
        self.store.open(folder)
        self.is_open, self.chains = True, []
        self.bipartite_vertices = self.bulk_vertices = 0
        version = f"{ladybug.__version__} on Python {platform.python_version()}"
        return {"version": version, "durability": "synced", "settings": self.store.settings()}

    def loop(self, request, make):
        threads = number_of(request, "threads", 1, THREADS_MAX)
        seconds = number_of(request, "seconds", 1e-3, SECONDS_MAX, whole=False)
        rate = number_of(request, "rate", 1e-3, 1e9, whole=False) if "rate" in request else 0
        return Loop(threads, seconds, rate, make).run()

    def commits(self, request):
        threads = number_of(request, "threads", 1, THREADS_MAX)
        firsts, retries = [None] * threads, [0] * threads
        # Cleared first: after an error there are no chains that could be walked.
        self.chains = []

        def make(thread):
            worker = self.store.worker()
            previous = None

            def commit(end):
                nonlocal previous
                previous, refused = repeated(lambda: worker.commit(previous), end)
                if firsts[thread] is None:
                    firsts[thread] = previous
                retries[thread] += refused
                return 1

            return commit, worker.close

        answer = self.loop(request, make)
        self.chains = firsts
        return {**answer, "retries": sum(retries)}

    def walk_chains(self, request):
        threads = number_of(request, "threads", 1, THREADS_MAX)
        expect(threads <= len(self.chains), f"chains: the last commits left {len(self.chains)} chains")
        steps = [0] * threads

        def make(thread):
            worker, first, read = self.store.worker(), self.chains[thread], 0
            if first is None:
                return None, worker.close
            # The whole chain is counted before the start.
            steps[thread] = worker.walk(first, sys.maxsize)
            worker.renew()
            expected = min(steps[thread], STEPS_MAX)

            def walk(_end):
                nonlocal read
                walked = worker.walk(first, STEPS_MAX)
                expect(walked == expected, f"a walk had {walked} steps, expected {expected}")
                read += walked
                if read >= TRANSACTION_LENGTH:
                    worker.renew()
                    read = 0
                return 2 * walked

            return walk, worker.close

        answer = self.loop(request, make)
        return {**answer, "steps": steps}

    def load_bipartite(self, request):
        vertices = number_of(request, "vertices", 2, VERTICES_MAX)
        is_right = vertices % 2 == 0 and not self.bipartite_vertices
        expect(is_right, "bipartite-load: expected an even number of vertices, once a folder")
        half = vertices // 2
        edges = ((i, bipartite_target(i, edge, half)) for i in range(half) for edge in range(DEGREE))
        nodes = [(number, "") for number in range(half)]
        seconds = self.copy([("Source", nodes), ("Target", nodes), ("Link", edges)])
        self.bipartite_vertices = vertices
        return {"seconds": seconds}

    def load_bulk(self, request):
        vertices = number_of(request, "vertices", 1, VERTICES_MAX)
        expect(not self.bulk_vertices, "bulk: the bulk graph is loaded once a folder")
        edges = ((i, bulk_target(i, edge, vertices)) for i in range(vertices) for edge in range(DEGREE))
        seconds = self.copy([("Numbered", ((i, i) for i in range(vertices))), ("Bulk", edges)])
        self.bulk_vertices = vertices
        return {"seconds": seconds}

    def copy(self, tables):
        """The fastest documented way is COPY from files. They are written before the time begins."""
        files = []
        try:
            for table, lines in tables:
                files.append(self.store.folder / f"{table}.csv")
                with open(files[-1], "w") as file:
                    file.writelines(f"{first},{second}\n" for first, second in lines)
            begin = time.monotonic()
            self.store.copy({table: file for (table, _), file in zip(tables, files)})
            return time.monotonic() - begin
        finally:
            for file in files:
                file.unlink(missing_ok=True)

    def check_bipartite(self, request):
        expect(self.bipartite_vertices, "the graph is not loaded; send bipartite-load first")
        half = self.bipartite_vertices // 2
        count, stride = (number_of(request, name, 1, VERTICES_MAX) for name in ("count", "stride"))
        expect((count - 1) * stride < half, f"bipartite-check: expected numbers below {half}")
        worker = self.store.worker()
        out, into = {}, {}
        for place in range(count):
            number = place * stride
            for counts, found in ((out, worker.targets(number)), (into, worker.sources(number))):
                counts[len(found)] = counts.get(len(found), 0) + 1
            if place % TRANSACTION_LENGTH == 0:
                worker.renew()
        worker.close()
        degrees = [{str(degree): counts[degree] for degree in sorted(counts)} for counts in (out, into)]
        return {**self.count(request), "out_degree": degrees[0], "in_degree": degrees[1]}

    def bipartite(self, request):
        expect(self.bipartite_vertices, "the graph is not loaded; send bipartite-load first")

        def make(thread):
            worker = self.store.worker()
            numbers = random.Random(thread)
            present = numbers.randrange(self.bipartite_vertices // 2)

            def hop():
                nonlocal present
                target = numbers.choice(worker.targets(present))
                present = numbers.choice(worker.sources(target))
                return 8

            return in_batches(worker, hop), worker.close

        return self.loop(request, make)

    def two_hops_of(self, request):
        expect(self.bulk_vertices, "the graph is not loaded; send bulk first")
        number = number_of(request, "number", 0, self.bulk_vertices - 1)
        worker = self.store.worker()
        numbers = sorted(worker.two_hops(number))
        worker.close()
        return {"numbers": numbers}

    def two_hops(self, request):
        expect(self.bulk_vertices, "the graph is not loaded; send bulk first")

        def make(thread):
            worker = self.store.worker()
            numbers = random.Random(thread)

            def visit():
                found = len(worker.two_hops(numbers.randrange(self.bulk_vertices)))
                expect(found == DEGREE * DEGREE, f"two hops: expected 9 vertices, found {found}")
                return DEGREE + found

            return in_batches(worker, visit), worker.close

        return self.loop(request, make)

    def put_history(self, request):
        versions = number_of(request, "versions", 1, VERTICES_MAX)
        entity = self.store.make_entity()
        begin = time.monotonic()
        self.store.put_history(entity, versions)
        return {"seconds": time.monotonic() - begin}

    def read_history(self, _request):
        raise Skip("the system keeps no history")

    def reopen(self, _request):
        folder = self.store.folder
        # Order: a system that fails between the two is closed, not open.
        self.is_open = False
        begin = time.monotonic()
        self.store.close()
        self.store.open(folder)
        self.is_open = True
        return {"seconds": time.monotonic() - begin}

    def count(self, _request):
        vertices, edges = self.store.count()
        return {"vertices": vertices, "edges": edges}

    def memory(self, _request):
        raise Skip("the system is native code; the table of costs has the memory of its process")

    def close(self, _request):
        self.is_open = False
        self.store.close()
        return {}


def main():
    if sys.argv[1:] != ["ladybug"]:
        raise SystemExit(f"the only target here is ladybug, found {sys.argv[1:]}")
    requests = Requests()
    # Answers go to the first output; whatever the system prints goes to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = requests.answer(json.loads(line))
        except Skip as skip:
            answer = {"skip": str(skip)}
        except BaseException as error:
            if not isinstance(error, (ValueError, OSError)):
                traceback.print_exc()
            answer = {"error": str(error) or type(error).__name__}
        print(json.dumps(answer), file=answers, flush=True)
    if requests.is_open:
        requests.close(None)


if __name__ == "__main__":
    main()
