#!/usr/bin/env python3
"""An adapter for SQLite, in Python's standard library: commits and walks along the chains.

    annals-lab run threads --quick --target annals --adapter 'sqlite-py=python3 crates/annals-lab/examples/adapter.py'
"""
import collections, json, sqlite3, sys, threading, time

PATH = None
CHAINS = []  # of each thread: its first vertex and the number of its edges


def connect():
    connection = sqlite3.connect(PATH, isolation_level=None, timeout=30)
    connection.execute("pragma synchronous = full")
    return connection


def open_(request):
    global PATH
    PATH = request["folder"] + "/graph.db"
    connect().executescript("pragma journal_mode = wal; create table vertex (id integer primary key);"
                            "create table edge (source integer, target integer); create index out on edge (source)")
    return {"version": sqlite3.sqlite_version, "durability": "synced", "settings": {"journal_mode": "wal"}}


def commit(connection, chain):
    connection.execute("begin immediate")
    vertex = connection.execute("insert into vertex default values").lastrowid
    if chain:
        connection.execute("insert into edge values (?, ?)", (chain["last"], vertex))
    connection.execute("commit")
    chain.update(first=chain.get("first", vertex), last=vertex, steps=chain["steps"] + 1 if chain else 0)
    return 1


def walk(connection, chain):
    vertex, steps = chain.get("first"), 0
    while step := connection.execute("select target from edge where source = ?", (vertex,)).fetchone():
        vertex, steps = step[0], steps + 1
    return 2 * steps


def loop(request, work, chains):
    """Repeats the work on every thread, in a closed loop or at a rate."""
    ticks, latencies, late, dropped = (collections.Counter() for _ in range(4))
    threads, length, rate = request["threads"], request["seconds"], request.get("rate")
    gate = threading.Barrier(threads + 1)

    def run(number):
        connection, turn = connect(), 0
        gate.wait()
        while (due := (number + turn * threads) / rate if rate else time.monotonic() - start) < length:
            if (now := time.monotonic() - start) >= length:
                dropped[number] += 1
            else:
                time.sleep(max(0, due - now))
                late[number] += bool(rate) and time.monotonic() - start > due + 0.001
                if not (operations := work(connection, chains[number])):
                    break
                end = time.monotonic() - start
                ticks[int(end * 10)] += operations
                latencies[max(1, int(float("%.3g" % ((end - due) * 1e9))))] += 1
            turn += 1

    workers = [threading.Thread(target=run, args=[number]) for number in range(threads)]
    [worker.start() for worker in workers]
    start = time.monotonic()
    gate.wait()
    [worker.join() for worker in workers]
    return {"operations": sum(ticks.values()), "seconds": time.monotonic() - start,
            "ticks": [ticks[tick] for tick in range(max(ticks, default=-1) + 1)], "latencies_ns": sorted(latencies.items()),
            "late": sum(late.values()), "dropped": sum(dropped.values())}


def commits(request):
    global CHAINS
    CHAINS = [{} for _ in range(request["threads"])]
    return loop(request, commit, CHAINS)


def chains(request):
    if request["threads"] > len(CHAINS):
        raise ValueError("fewer threads than that have committed")
    return loop(request, walk, CHAINS) | {"steps": [chain.get("steps", 0) for chain in CHAINS]}


ANSWERS = {"open": open_, "commits": commits, "chains": chains, "close": lambda request: {}}
for line in sys.stdin:
    try:
        request = json.loads(line)
        answer = ANSWERS.get(request["do"], lambda request: {"skip": "the example has no such request"})(request)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
