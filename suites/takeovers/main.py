"""Kills, stops and cuts servers over one log in a store, and judges what their clients were told.

run [--subject NAME] [--faults N] [--beside N] [--seed N] [--page FILE] [--keep] [--kind KIND]
                                                    makes N faults (TAKEOVERS_FAULTS, or 20) with N clusters at the same time (TAKEOVERS_BESIDE, or 1), and judges;
                                                    with a kind all of that kind
run check                                           the tests of the judge and of the proxies only
run judge FOLDER                                    judges a run that was kept
run switches [NAME …] [--faults N]                  leaves one protection out, and expects that the judge finds it within N faults (50)

A subject is one of stores/subjects.py (TAKEOVERS_SUBJECT, or postgres).
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
from dataclasses import dataclass

import features
import page
from clients import Crowd
from faults import Faults
from history import History, Trouble
from judge import Verdict, judge
from servers import Cluster, Stuck
from stores.subjects import SUBJECTS

HISTORY = "history"
# What a debug build can leave out (crates/annals/src/protection.rs). Without the lease nothing may be found.
SWITCHES = ("token", "term", "durable", "unknown", "swap", "settled", "lease")
HARMLESS = "lease"
# With a protection left out, each group of so many faults has servers of its own: some do not survive it.
GROUP = 10


def check() -> int:
    """Runs the tests of the judge and of the proxies. Shape: how many there are."""
    tests = unittest.defaultTestLoader.loadTestsFromNames(["checker_test", "features_test", "stores.messages_test"])
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests)
    if not outcome.wasSuccessful():
        raise SystemExit(f"takeovers: {tests.countTestCases()} passed, {len(outcome.failures) + len(outcome.errors)} failed")
    return tests.countTestCases()


def program() -> pathlib.Path:
    found = pathlib.Path(os.environ["ANNALS_PROGRAMS"]) / "annals"
    if not found.exists():
        raise SystemExit(f"takeovers: expected the program {found}; build it: cargo build -p annals-cli")
    return found.resolve()


def drive(folder: pathlib.Path, subject: str, seed: int, count: int, left_out: str = "", kind: str = "") -> None:
    """Makes faults beside clients, ends them, and reads the stores. Without a protection the first trouble ends the faults."""
    environment = {"ANNALS_LEAVE_OUT": left_out} if left_out else {}
    cluster = Cluster(folder, program(), SUBJECTS[subject][1](folder), environment)
    try:
        others = [*features.CLIENTS, *(features.CLIENTS_OF_CONTENTS if cluster.subject.bucket else ())]
        crowd = Crowd(cluster, seed, others)
        faults = Faults(cluster, crowd.board, seed, count)
        try:
            for _ in range(count):
                fault = faults.make(kind or None)
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


def own_mounts() -> list[str]:
    """The beginning of a command that has file systems of its own, which end with it; empty if this user may not."""
    command = ["unshare", "--mount", "--propagation", "private"]
    return command if subprocess.run([*command, "true"], capture_output=True).returncode == 0 else []


def drive_beside(subject: str, seed: int, count: int, beside: int, left_out: str = "", kind: str = "") -> list[pathlib.Path]:
    """Makes the faults with several clusters at the same time, each in a process of its own. Shape: their folders."""
    children = []
    for number in range(beside):
        folder, share = new_folder(), count // beside + (number < count % beside)
        command = [*own_mounts(), sys.executable, __file__, "drive", str(folder), "--subject", subject, "--faults", str(share),
                   "--seed", str(seed + number), "--without", left_out, "--kind", kind]
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


def run(subject: str, count: int, beside: int, seed: int, to_page: str, is_kept: bool, kind: str) -> int:
    passed, begun, verdict = check(), time.time(), Verdict()
    options = f"--subject {subject} --faults {count} --seed {seed}" + (f" --beside {beside}" if beside > 1 else "")
    options += f" --kind '{kind}'" if kind else ""
    print(f"takeovers: {count} faults on {SUBJECTS[subject][0]}, with the seed {seed}; repeat them with {options}", flush=True)
    folders = drive_beside(subject, seed, count, beside, "", kind)
    for folder in folders:
        verdict.add(judge(History.read_from(folder / HISTORY)))
    print("\n".join(verdict.lines()))
    is_good = verdict.is_clean and not verdict.void
    if is_good and to_page:
        page.write(pathlib.Path(to_page), SUBJECTS[subject][0], verdict, f"suites/takeovers/run {options}", time.time() - begun)
    for folder in folders:
        if is_good and not is_kept:
            shutil.rmtree(folder)
        else:
            print(f"takeovers: the history and the logs of the servers are in {folder}")
    passed += sum(not found for found in verdict.found.values())
    failed = sum(bool(found) for found in verdict.found.values()) + len(verdict.void)
    print(f"takeovers: {passed} passed, {failed} failed")
    return 0 if is_good else 1


@dataclass
class LeftOut:
    """What the judge found without a protection."""

    name: str
    verdict: Verdict

    @property
    def found(self) -> list[str]:
        """The rules that are broken. A server that does not go on is no proof that the judge finds what it told its clients."""
        return sorted(self.verdict.broken - ({"troubles"} if self.name != HARMLESS else set()))

    @property
    def is_right(self) -> bool:
        return bool(self.found) == (self.name != HARMLESS)

    def row(self) -> str:
        texts = [self.verdict.found[rule][0][:120] for rule in self.found[:1]]
        return (f"{self.name:9}{'nothing' if self.name == HARMLESS else 'something':11}{', '.join(self.found) or 'nothing':40}"
                f"{self.verdict.counts.get('faults', 0):7}  {'right' if self.is_right else 'WRONG'}  {''.join(texts)}")


def leave_out(name: str, seed: int, count: int) -> LeftOut:
    """Makes faults until the judge finds that a protection is left out; without the lease, all of them."""
    left, made = LeftOut(name, Verdict()), 0
    while made < count and (name == HARMLESS or not left.found):
        share, beside = (count, count // GROUP) if name == HARMLESS else (min(GROUP, count - made), 1)
        for folder in drive_beside("postgres", seed + made, share, max(1, beside), name):
            left.verdict.add(judge(History.read_from(folder / HISTORY)))
            if name != HARMLESS or left.verdict.is_clean:
                shutil.rmtree(folder)
            else:
                print(f"takeovers: the history and the logs of the servers are in {folder}")
        made += share
    print(f"takeovers: without {name}: {', '.join(left.found) or 'nothing'} found, {'right' if left.is_right else 'WRONG'}", flush=True)
    for rule in left.found:
        print(f"       {rule}: {left.verdict.found[rule][0][:240]}", flush=True)
    return left


def switches(names: list[str], count: int, seed: int) -> int:
    """Leaves out one protection after the other, and shows what was found as a table."""
    print(f"takeovers: each protection is left out for up to {count} faults, with the seed {seed}", flush=True)
    outcomes = [leave_out(name, seed, count) for name in names or SWITCHES]
    print(f"{'without':9}{'expected':11}{'broken rules':40}{'faults':>7}")
    for outcome in outcomes:
        print(outcome.row())
    right = sum(outcome.is_right for outcome in outcomes)
    print(f"takeovers: {right} passed, {len(outcomes) - right} failed")
    return 0 if right == len(outcomes) else 1


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--faults", type=int)
    parser.add_argument("--beside", type=int, default=int(os.environ.get("TAKEOVERS_BESIDE", 1)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ANNALS_FIRST_SEED", random.randrange(1 << 32))))
    parser.add_argument("--subject", default=os.environ.get("TAKEOVERS_SUBJECT", "postgres"), choices=sorted(SUBJECTS))
    parser.add_argument("--kind", default="")
    parser.add_argument("--without", default="", choices=["", *SWITCHES])
    parser.add_argument("--page", default="")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    # Order: an end by a signal goes through `finally`, so that no server is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    command, *names = arguments.command or ["run"]
    if command == "run" and not names:
        count = arguments.faults or int(os.environ.get("TAKEOVERS_FAULTS", 20))
        return run(arguments.subject, count, arguments.beside, arguments.seed, arguments.page, arguments.keep, arguments.kind)
    if command == "drive" and len(names) == 1 and arguments.faults:
        drive(pathlib.Path(names[0]), arguments.subject, arguments.seed, arguments.faults, arguments.without, arguments.kind)
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
