#!/usr/bin/env python3
"""Runs the suites of suites.tsv that a change can break, and keeps the proofs of the long ones: suites.py COMMAND.

run [--all | --full | --suite NAME]  what ./test calls
table [--check]                      writes the table of CONTRIBUTING.md from suites.tsv, or fails if it differs
landed COMMIT                        notes that COMMIT has landed: once, in the first commit on top of it
own                                  fails unless every proof is one of the files as they are: before a release
"""
import argparse
import contextlib
import datetime
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import counts
import install
import proofs
import table
from proofs import Failure

# A suite that hangs is ended. Units: seconds.
SUITE_SECONDS_MAX = 3_600
# One that runs beside the others may take as long as all of them.
BESIDE_SECONDS_MAX = 3 * 3_600
# A full disk fails in many ways, of which few name it. Units: MB.
FREE_MB_MIN = 2_000
# How many parts a suite has of which each landing runs one.
PARTS = 4


class Run:
    """The suites of one call: what ran, and what runs beside."""

    def __init__(self, repository, mode):
        self.repository, self.mode = repository, mode
        self.target = os.path.abspath(os.environ.setdefault("CARGO_TARGET_DIR", os.path.join(repository.root, "target")))
        os.environ["CARGO_TARGET_DIR"] = self.target
        self.logs = os.path.join(self.target, "suites")
        os.makedirs(self.logs, exist_ok=True)
        self.lines, self.total, self.running = [], counts.Counts(), []
        self.start = time.monotonic()

    def environment(self, suite, is_part):
        """The variables of a suite, beside those of the caller."""
        programs = os.path.join(self.target, "debug")
        seen = dict(os.environ, ANNALS_PROGRAMS=programs, ANNALS_LIBRARY_FOLDER=os.path.join(programs, "deps"))
        seed = int(self.repository.commit[:8], 16)
        if self.mode != "full":
            # The same histories for the same commit, and others for the next one.
            seen.setdefault("ANNALS_FIRST_SEED", str(seed + 1))
            seen.setdefault("PROPTEST_RNG_SEED", str(seed))
        if is_part:
            seen["ANNALS_PART"] = f"{seed % PARTS}/{PARTS}"
        for row in [suite, *self.repository.parts(suite)]:
            seen.update(row.cell(self.mode).variables)
        return seen

    def check_space(self, suite):
        free = shutil.disk_usage(self.target).free // 1_000_000
        if free < FREE_MB_MIN:
            raise Failure(f"before {suite.name}: expected {FREE_MB_MIN} MB of free space in {self.target}, found {free}; "
                          "remove old target folders, or set CARGO_INCREMENTAL=0")

    def begin(self, suite, is_part, is_beside):
        self.check_space(suite)
        print(f"\n== {suite.name}: {suite.command}", flush=True)
        started = Started(suite, os.path.join(self.logs, suite.name.replace(" ", "-").replace("/", "-") + ".log"))
        started.limit = BESIDE_SECONDS_MAX if is_beside else SUITE_SECONDS_MAX
        started.inputs = self.repository.inputs_hash(suite, self.repository.tree())
        command = ["nice", "-n", "15" if is_beside else "0", "bash", "-o", "pipefail", "-c", suite.command]
        started.out = open(started.log, "wb")
        started.process = subprocess.Popen(command, cwd=self.repository.root, env=self.environment(suite, is_part),
                                           stdin=subprocess.DEVNULL, stdout=started.out if is_beside else subprocess.PIPE,
                                           stderr=subprocess.STDOUT, start_new_session=True)
        started.timer = threading.Timer(started.limit, started.stop)
        started.timer.daemon = True
        started.timer.start()
        self.running.append(started)
        return started

    def run(self, suite, is_part):
        """Runs a suite, shows what it prints, and counts its tests."""
        started = self.begin(suite, is_part, False)
        for line in started.process.stdout:
            started.out.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
        self.finish(started)

    def finish(self, started):
        """Waits for the end of a suite, and judges it."""
        suite, code = started.suite, started.process.wait()
        started.timer.cancel()
        started.out.close()
        self.running.remove(started)
        seconds = round(time.monotonic() - started.since)
        with open(started.log, errors="replace") as log:
            found = counts.read(log)
        if code != 0 or found.failed:
            most = f", which took more than {started.limit} s" if seconds >= started.limit else ""
            raise Failure(f"failed: {suite.name} (after {seconds} s{most}); its output is in {started.log}; run it alone with: "
                          f"./test --suite '{suite.name}'")
        if suite.is_proved and not found.passed and not (suite.may_skip and found.skipped):
            raise Failure(f"{suite.name}: expected lines that count its tests, found none in {started.log}")
        self.total += found
        self.lines.append(f"{seconds:6} s  {suite.name}" + (f": {found}" if found else ""))
        print(f"-- {suite.name}: {seconds} s" + (f", {found}" if found else ""), flush=True)
        if suite.is_proved and self.mode == "full":
            self.keep(suite, started.inputs, seconds, found)

    def keep(self, suite, inputs, seconds, found):
        if any(inputs != self.repository.inputs_hash(suite, tree) for tree in ("HEAD", self.repository.tree())):
            print(f"no proof is kept of {suite.name}: its inputs are not committed, or have changed while it ran")
            return
        self.repository.keep(suite, inputs, seconds, found)

    def run_all(self, chosen):
        """Runs suites one after the other, and at the same time those that may run beside them."""
        try:
            for suite, is_part in chosen:
                if len(chosen) > 1 and "beside" in suite.cell(self.mode).words:
                    self.begin(suite, is_part, True)
                else:
                    self.run(suite, is_part)
            for started in list(self.running):
                print(f"\n== waiting for {started.suite.name}; its output is in {started.log}", flush=True)
                self.finish(started)
        finally:
            for started in self.running:
                started.stop()


class Started:
    """A suite that runs, in a session of processes of its own."""

    def __init__(self, suite, log):
        self.suite, self.log, self.since = suite, log, time.monotonic()
        self.process = self.out = self.timer = self.limit = self.inputs = None

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
            os.killpg(self.process.pid, signal.SIGKILL)


def choose(repository, mode, name):
    """The suites that run, and a line for each that does not. Shape: `([(suite, is it a part)], [line])`."""
    if name:
        return [(repository.suite(name), False)], []
    chosen, left = [], []
    for suite in repository.suites:
        if suite.is_part:
            continue
        runs, is_part, why = repository.decide(suite, mode)
        if runs:
            chosen.append((suite, is_part))
        if not runs or is_part:
            left.append(f"{'a quarter run' if runs else 'not run'}: {suite.name}: {why or 'chosen by the commit'}")
    return chosen, left


def run(repository, arguments):
    mode = "full" if arguments.full or arguments.suite else "all" if arguments.all else "test"
    repository.check_inputs()
    chosen, left = choose(repository, mode, arguments.suite)
    warnings = repository.check_proofs() if mode == "all" else []
    print("\n".join(left + warnings), flush=True)
    install.install({need for suite, _ in chosen for need in suite.needs})
    now = Run(repository, mode)
    if arguments.suite:
        # The programs that the tests have built, or nothing if they are there already.
        subprocess.run(["cargo", "test", "--workspace", "--no-run", "--locked", "--quiet"], cwd=repository.root, check=True)
    now.run_all(chosen)
    size = subprocess.run(["du", "-sh", now.target], capture_output=True, text=True).stdout.split("\t")[0]
    what = f" --suite '{arguments.suite}'" if arguments.suite else {"test": "", "all": " --all", "full": " --full"}[mode]
    print(f"\n./test{what}: all is well, in {round(time.monotonic() - now.start)} s; {now.target} has {size}")
    print("\n".join("  " + line for line in now.lines + left + warnings))
    print(f"tests: {now.total.passed} passed, 0 failed, {now.total.skipped} skipped")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run").add_mutually_exclusive_group()
    runs.add_argument("--all", action="store_true")
    runs.add_argument("--full", action="store_true")
    runs.add_argument("--suite")
    commands.add_parser("table").add_argument("--check", action="store_true")
    commands.add_parser("landed").add_argument("commit")
    commands.add_parser("own")
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        repository = proofs.Repository(root, datetime.date.today())
        if arguments.command == "run":
            run(repository, arguments)
        elif arguments.command == "table":
            table.write(repository, arguments.check)
        elif arguments.command == "landed":
            repository.land(arguments.commit)
        else:
            repository.check_own()
    except Failure as failure:
        print(f"\n./test: {failure}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
