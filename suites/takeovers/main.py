"""Kills, stops and cuts servers over one log in PostgreSQL, and judges what their clients were told.

run [--faults N] [--beside N] [--seed N] [--page FILE] [--keep]
                                                    makes N faults (TAKEOVERS_FAULTS, or 20) with N clusters at the same time (TAKEOVERS_BESIDE, or 1), and judges
run check                                           the tests of the judge and of the proxies only
run judge FOLDER                                    judges a run that was kept
run switches [NAME …] [--faults N]                  leaves one protection out, and expects that the judge finds it within N faults (50)

Exit code 0: nothing was found. 1: something was, or the run is void, or the judge did not find what was left out.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import page
from clients import Crowd
from faults import Faults
from history import History, Trouble
from judge import Verdict, judge
from servers import Cluster, Stuck

HISTORY = "history"
# What a debug build can leave out (crates/annals/src/protection.rs). Without the lease nothing may be found.
SWITCHES = ("token", "term", "durable", "unknown", "swap", "settled", "lease")
HARMLESS = "lease"
# With a protection left out, each group of so many faults has servers of its own: some do not survive it.
GROUP = 10


def check() -> int:
    """Runs the tests of the judge and of the proxies. Shape: how many there are."""
    tests = unittest.defaultTestLoader.loadTestsFromNames(["checker_test", "store_messages_test"])
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests)
    if not outcome.wasSuccessful():
        raise SystemExit(f"takeovers: {tests.countTestCases()} passed, {len(outcome.failures) + len(outcome.errors)} failed")
    return tests.countTestCases()


def program() -> pathlib.Path:
    found = pathlib.Path(os.environ["ANNALS_PROGRAMS"]) / "annals"
    if not found.exists():
        raise SystemExit(f"takeovers: expected the program {found}; build it: cargo build -p annals-cli")
    return found.resolve()


def drive(folder: pathlib.Path, seed: int, count: int, left_out: str = "") -> None:
    """Makes faults beside clients, ends them, and reads the store. Without a protection the first trouble ends the faults."""
    environment = {"ANNALS_LEAVE_OUT": left_out} if left_out else {}
    cluster = Cluster(folder, program(), environment)
    try:
        crowd = Crowd(cluster, seed)
        faults = Faults(cluster, crowd.board, seed)
        try:
            for _ in range(count):
                fault = faults.make()
                if left_out and cluster.history.troubles:
                    break
                if not left_out:
                    recovered = "" if fault.recovered is None else f", a write after {fault.recovered:.1f} s"
                    print(f"{fault.number:4} {fault.kind}: {fault.end - fault.start:.1f} s{recovered} {fault.note}", flush=True)
        except Stuck as stuck:
            cluster.history.add(Trouble("driver", str(stuck)))
        crowd.stop()
        cluster.finish()
        crowd.end_subscriptions(cluster.history.records[-1].position)
    finally:
        cluster.close()
    cluster.history.write_to(folder / HISTORY)


def drive_beside(seed: int, count: int, beside: int, left_out: str = "") -> list[pathlib.Path]:
    """Makes the faults with several clusters at the same time, each in a process of its own. Shape: their folders."""
    children = []
    for number in range(beside):
        folder, share = new_folder(), count // beside + (number < count % beside)
        command = [sys.executable, __file__, "drive", str(folder), "--faults", str(share), "--seed", str(seed + number), "--without", left_out]
        children.append((folder, subprocess.Popen(command)))
    try:
        codes = [child.wait() for _, child in children]
    finally:
        for _, child in children:
            child.terminate()
    if any(codes):
        raise SystemExit(f"takeovers: a driver failed; its folder is one of {', '.join(str(folder) for folder, _ in children)}")
    return [folder for folder, _ in children]


def new_folder() -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="annals-takeovers-"))
    # The user of the store enters it.
    folder.chmod(0o755)
    return folder


def run(count: int, beside: int, seed: int, to_page: str, is_kept: bool) -> int:
    passed, begun, verdict = check(), time.time(), Verdict()
    options = f"--faults {count} --seed {seed}" + (f" --beside {beside}" if beside > 1 else "")
    print(f"takeovers: {count} faults with the seed {seed}; repeat them with {options}", flush=True)
    folders = drive_beside(seed, count, beside)
    for folder in folders:
        verdict.add(judge(History.read_from(folder / HISTORY)))
    print("\n".join(verdict.lines()))
    is_good = verdict.is_clean and not verdict.void
    if is_good and to_page:
        page.write(pathlib.Path(to_page), verdict, f"suites/takeovers/run {options}", time.time() - begun)
    for folder in folders:
        if is_good and not is_kept:
            shutil.rmtree(folder)
        else:
            print(f"takeovers: the history and the logs of the servers are in {folder}")
    passed += sum(not found for found in verdict.found.values())
    failed = sum(bool(found) for found in verdict.found.values()) + len(verdict.void)
    print(f"takeovers: {passed} passed, {failed} failed")
    return 0 if is_good else 1


def leave_out(name: str, seed: int, count: int) -> bool:
    """True if the judge finds that a protection is left out; for the lease, if it finds nothing."""
    verdict, made = Verdict(), 0
    # A server that does not go on is no proof that the judge finds what it told its clients.
    while made < count and not (verdict.broken - {"troubles"}):
        share, beside = (count, count // GROUP) if name == HARMLESS else (min(GROUP, count - made), 1)
        for folder in drive_beside(seed + made, share, max(1, beside), name):
            verdict.add(judge(History.read_from(folder / HISTORY)))
            if name != HARMLESS or verdict.is_clean:
                shutil.rmtree(folder)
            else:
                print(f"takeovers: the history and the logs of the servers are in {folder}")
        made += share
    rules = {rule: verdict.found[rule][0] for rule in sorted(verdict.broken)}
    is_right = not rules if name == HARMLESS else bool(verdict.broken - {"troubles"})
    made = verdict.counts["faults"]
    print(f"{'right' if is_right else 'WRONG'}: without {name}, within {made} faults: {', '.join(rules) or 'nothing found'}", flush=True)
    for rule, text in rules.items():
        print(f"       {rule}: {text[:240]}", flush=True)
    return is_right


def switches(names: list[str], count: int, seed: int) -> int:
    print(f"takeovers: each protection is left out for up to {count} faults, with the seed {seed}", flush=True)
    outcomes = [leave_out(name, seed, count) for name in names or SWITCHES]
    print(f"takeovers: {sum(outcomes)} passed, {len(outcomes) - sum(outcomes)} failed")
    return 0 if all(outcomes) else 1


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--faults", type=int)
    parser.add_argument("--beside", type=int, default=int(os.environ.get("TAKEOVERS_BESIDE", 1)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ANNALS_FIRST_SEED", random.randrange(1 << 32))))
    parser.add_argument("--without", default="", choices=["", *SWITCHES])
    parser.add_argument("--page", default="")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    # Order: an end by a signal goes through `finally`, so that no server is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    command, *names = arguments.command or ["run"]
    if command == "run" and not names:
        count = arguments.faults or int(os.environ.get("TAKEOVERS_FAULTS", 20))
        return run(count, arguments.beside, arguments.seed, arguments.page, arguments.keep)
    if command == "drive" and len(names) == 1 and arguments.faults:
        drive(pathlib.Path(names[0]), arguments.seed, arguments.faults, arguments.without)
        return 0
    if command == "check" and not names:
        print(f"takeovers: {check()} passed, 0 failed")
        return 0
    if command == "judge" and len(names) == 1:
        verdict = judge(History.read_from(pathlib.Path(names[0]) / HISTORY))
        print("\n".join(verdict.lines()))
        return 0 if verdict.is_clean and not verdict.void else 1
    if command == "switches" and set(names) <= set(SWITCHES):
        return switches(names, arguments.faults or 50, arguments.seed)
    parser.error(f"expected a command and its names, found: {' '.join(arguments.command)}")


if __name__ == "__main__":
    sys.exit(main())
