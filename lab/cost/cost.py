#!/usr/bin/env python3
"""Counts the instructions and the misses of the cache that reads and commits take, under callgrind: lab/annals-lab cost."""
import argparse
import collections
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KEPT = "lab/cost/kept.tsv"
# What the program takes of the lab. An older commit is measured with these files of today, and with its own engine.
OF_THE_LAB = ["lab/cost", "lab/src/graph", "lab/src/outcome.rs"]
# The caches of a common processor of servers: 32 KiB for instructions and for data, 1 MiB behind both.
CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
# Commits of before some features are built without them.
FEATURES = [[], ["--no-default-features", "--features", "grants"], ["--no-default-features", "--features", "trees"], ["--no-default-features"]]
SECONDS_MAX = 600


class Failure(Exception):
    """Ends the program with a sentence."""


@dataclass(frozen=True)
class Cost:
    """What one operation of a line takes on its own thread, and what others do beside it, such as indexing, which differs
    from run to run. Units: instructions; misses of data in the first cache, and in the last."""

    line: str
    operations: int
    instructions: float
    first_misses: float
    last_misses: float
    beside: float


def build(root, features=()):
    """The program that works, with the engine in `root`."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    environment = dict(os.environ, CARGO_TARGET_DIR=os.path.join(target, "cost"))
    locked = ["--locked"] if root == ROOT else []
    command = ["cargo", "build", "--quiet", "--release", *locked, *features, "--manifest-path", os.path.join(root, "lab/cost/Cargo.toml")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Failure(done.stderr.strip())
    return os.path.join(environment["CARGO_TARGET_DIR"], "release", "annals-cost")


@contextlib.contextmanager
def counted(program):
    """Runs the program once. Gives its lines, each with the file of the profiler that counted it."""
    if not shutil.which("valgrind"):
        raise Failure("valgrind is not installed; on Debian: sudo apt-get install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        command = ["valgrind", "--tool=callgrind", *CACHES, "--separate-threads=yes", "--compress-strings=no", "--dump-before=annals_cost::mark*",
                   f"--callgrind-out-file={out}", program, os.path.join(folder, "repositories")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
        if done.returncode:
            raise Failure(f"annals-cost under callgrind: {done.stderr.strip()[-1000:]}")
        lines = [row.split("\t") for row in done.stdout.splitlines()]
        # The profiler has written what was before each line and what was in it, in turn, from number 1; a file for each thread.
        yield [(name, int(operations), f"{out}.{2 * at}-01") for at, (name, operations) in enumerate(lines, start=1)]


def totals(path):
    """The counts of a file by the names of their events; zeros at the end are left out there."""
    with open(path, errors="replace") as text:
        for row in text:
            key, _, values = row.partition(": ")
            if key == "events":
                events = values.split()
            elif key == "totals":
                return collections.Counter(dict(zip(events, map(int, values.split()))))
    raise Failure(f"{path}: callgrind wrote no totals")


def cost(name, operations, path):
    own = totals(path)
    of = lambda *names: sum(own[event] for event in names) / operations
    others = set(glob.glob(path.removesuffix("01") + "*")) - {path}
    beside = sum(totals(other)["Ir"] for other in others) / operations
    return Cost(name, operations, of("Ir"), of("D1mr", "D1mw"), of("DLmr", "DLmw"), beside)


def costs(program):
    with counted(program) as lines:
        return [cost(*line) for line in lines]


def functions(path, operations):
    """What each function takes itself, without those that it calls. Shape: (instructions, name), the most first."""
    own, function, is_called = collections.Counter(), None, False
    with open(path, errors="replace") as text:
        for row in text:
            if row.startswith("fn="):
                function = re.sub(r"::h[0-9a-f]{16}", "", row[3:].strip())
            elif row.startswith("calls="):
                # The next row has what the called function takes.
                is_called = True
            elif function and row[0] in "0123456789+-*":
                if not is_called:
                    own[function] += int((row.split() + ["0"])[1])
                is_called = False
    return [(count / operations, name) for name, count in own.most_common()]


@contextlib.contextmanager
def engine_of(commit):
    """A folder with the engine of the commit, and with the work of today."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    # Always the same folder, so that cargo builds only what differs.
    folder = os.path.join(target, "cost", "history")
    if not os.path.isdir(folder):
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "fetch", "--quiet", ROOT, "HEAD"], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", "--force", commit], check=True)
    subprocess.run(["git", "-C", folder, "clean", "--quiet", "-dfx"], check=True)
    for path in OF_THE_LAB:
        there, here = os.path.join(folder, path), os.path.join(ROOT, path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(here):
            shutil.rmtree(there, ignore_errors=True)
            shutil.copytree(here, there)
        else:
            shutil.copy(here, there)
    yield folder


def costs_of(commit):
    with engine_of(commit) as folder:
        for features in FEATURES:
            with contextlib.suppress(Failure):
                return costs(build(folder, features))
        return costs(build(folder))


def compiler():
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def read_kept(text):
    """The rows of kept.tsv. Shape: (version of the compiler, {line: Cost})."""
    head, _, *rows = text.splitlines()
    fields = (row.split("\t") for row in rows)
    return head.removeprefix("# "), {f[0]: Cost(f[0], int(f[1]), *map(float, f[2:])) for f in fields}


def write_kept(measured):
    with open(os.path.join(ROOT, KEPT), "w") as kept:
        print(f"# {compiler()}\nline\toperations\tinstructions\tfirst misses\tlast misses\tbeside", file=kept)
        for c in measured:
            print(f"{c.line}\t{c.operations}\t{c.instructions:.1f}\t{c.first_misses:.2f}\t{c.last_misses:.2f}\t{c.beside:.0f}", file=kept)


def table(measured, before):
    """One row for each line: what it takes, and of what it took before."""
    rows = [f"{'line':<15}{'instructions':>14}{'misses L1':>11}{'LL':>8}{'of before':>11}{'other threads':>15}"]
    for c in measured:
        earlier = before.get(c.line)
        ratio = f"{c.instructions / earlier.instructions:.3f}" if earlier else "new"
        rows.append(f"{c.line:<15}{c.instructions:>14,.0f}{c.first_misses:>11.2f}{c.last_misses:>8.2f}{ratio:>11}{c.beside:>15,.0f}")
    return "\n".join(rows)


def arguments():
    parser = argparse.ArgumentParser(prog="lab/annals-lab cost", description=__doc__)
    parser.add_argument("commits", nargs="*", metavar="COMMIT", help="engines of the history, each beside the one before; without any, that of this checkout")
    parser.add_argument("--keep", action="store_true", help=f"writes {KEPT}, with which the next landing is compared")
    parser.add_argument("--profile", metavar="LINE", help="the functions of a line with their own instructions")
    return parser.parse_args()


def main():
    given = arguments()
    if given.profile:
        with counted(build(ROOT)) as lines:
            found = [line for line in lines if line[0] == given.profile]
            if not found:
                raise Failure(f"--profile: expected one of {', '.join(line[0] for line in lines)}, found {given.profile}")
            _, operations, path = found[0]
            for count, name in functions(path, operations)[:50]:
                print(f"{count:>12,.1f}  {name[:150]}")
        return
    if given.commits:
        before = {}
        for commit in given.commits:
            measured = costs_of(commit)
            print(f"{commit}\n{table(measured, before)}\n", flush=True)
            before = {c.line: c for c in measured}
        return
    measured, before = costs(build(ROOT)), {}
    with contextlib.suppress(FileNotFoundError), open(os.path.join(ROOT, KEPT)) as kept:
        _, before = read_kept(kept.read())
    print(table(measured, before))
    if given.keep:
        write_kept(measured)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"cost: {failure}")
