#!/usr/bin/env python3
"""An adapter for SQLite, in Python's standard library: commits, and walks along the chains. ../ADAPTERS.md says what the lab asks for."""
import collections, concurrent.futures, itertools, json, math, sqlite3, sys, threading, time

class Connection(sqlite3.Connection):
    steps = 0  # that walks have read in the present transaction

def connect():
    connection = sqlite3.connect(PATH, isolation_level=None, timeout=30, factory=Connection)
    connection.execute("pragma synchronous = full")
    return connection

def open_(request):
    global PATH
    PATH = request["folder"] + "/graph.db"
    connect().executescript("pragma journal_mode = wal; create table vertex (id integer primary key);"
                            "create table edge (source integer, target integer); create index out on edge (source)")
    return {"version": sqlite3.sqlite_version, "durability": "synced", "settings": {"journal_mode": "wal"}}

def commit(connection, chain):  # the vertices that a thread has made
    connection.execute("begin immediate")
    chain.append(connection.execute("insert into vertex default values").lastrowid)
    if len(chain) > 1:
        connection.execute("insert into edge values (?, ?)", chain[-2:])
    connection.execute("commit")
    return 1

def follow(connection, vertex, most):
    steps = 0
    while steps < most and (row := connection.execute("select target from edge where source = ?", (vertex,)).fetchone()):
        vertex, steps = row[0], steps + 1
    return steps

def walk(connection, chain):  # walks share a transaction until they have read 1,000 steps
    connection.in_transaction or connection.execute("begin")
    steps = follow(connection, chain[0], 1_000)
    connection.steps += steps
    if connection.steps >= 1_000:
        connection.execute("commit")
        connection.steps = 0
    return 2 * steps

def loop(request, work, chains):
    threads, length, rate, start = request["threads"], request["seconds"], request.get("rate"), []
    gate = threading.Barrier(threads, lambda: start.append(time.monotonic()))
    now = lambda: time.monotonic() - start[0]
    def run(number):
        connection, done = connect(), []
        gate.wait()
        for turn in itertools.count(number, threads):
            due = turn / rate if rate else now()
            if max(due, now()) >= length and (rate or turn > number):
                return done
            time.sleep(max(0, due - now()))
            is_late, operations, end = now() > due + 0.001, work(connection, chains[number]), now()
            if operations == 0:
                return done
            done.append((int(end * 10), float(f"{end - due:.3g}"), is_late, operations))
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        done = [operation for each in pool.map(run, range(threads)) for operation in each]
    ticks, latencies = collections.Counter(), collections.Counter(latency for _, latency, _, _ in done)
    for tick, _, _, operations in done:
        ticks[tick] += operations
    return {"operations": sum(ticks.values()), "seconds": now(), "ticks": [ticks[tick] for tick in range(max(ticks, default=-1) + 1)],
            "latencies_ns": sorted((round(latency * 1e9), count) for latency, count in latencies.items()),
            "late": sum(is_late for _, _, is_late, _ in done), "dropped": math.ceil(rate * length) - len(done) if rate else 0}

def commits(request):
    global CHAINS
    CHAINS = [[] for _ in range(request["threads"])]
    return loop(request, commit, CHAINS)

def chains(request):
    steps = [follow(connect(), chain[0], math.inf) for chain in CHAINS[:request["threads"]]]
    return loop(request, walk, CHAINS) | {"steps": steps}

ANSWERS = {"open": open_, "commits": commits, "chains": chains, "close": lambda request: {}}
for line in sys.stdin:
    try:
        request = json.loads(line)
        answer = ANSWERS.get(request["do"], lambda request: {"skip": "the example has no such request"})(request)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
