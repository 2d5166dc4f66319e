"""Reads suites.tsv, landings.tsv and proofs.tsv, and decides which suites a change can break."""
import csv
import datetime
import hashlib
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

import counts

SUITES, LANDINGS, PROOFS = ".ci/suites.tsv", ".ci/landings.tsv", ".ci/proofs.tsv"
MODES = ("test", "all", "full")
WORDS = {"yes", "no", "changed", "unproved", "part", "beside", "may-skip"}
# A proof of this age fails, and one of this age warns. Units: landings, days.
LANDINGS_MAX = 30
DAYS_MAX = 3


class Failure(Exception):
    """Ends ./test with a sentence."""


@dataclass(frozen=True)
class Cell:
    """When a suite runs, and with which variables. Shape: words of WORDS, and pairs NAME=VALUE."""

    words: frozenset
    variables: tuple

    @staticmethod
    def read(text, place):
        words = frozenset(word for word in text.split() if "=" not in word)
        if words - WORDS or not words & {"yes", "no", "changed", "unproved", "part"}:
            raise Failure(f"{SUITES}: {place}: expected words of {sorted(WORDS)} and NAME=VALUE, found '{text}'")
        return Cell(words, tuple(tuple(pair.split("=", 1)) for pair in text.split() if "=" in pair))


@dataclass(frozen=True)
class Suite:
    """A row of suites.tsv. One without a command (`-`) describes a part of the Rust tests, and sets their variables."""

    name: str
    cells: dict
    needs: tuple
    inputs: tuple
    command: str
    proves: str

    def cell(self, mode):
        return self.cells[mode]

    @property
    def is_part(self):
        return self.command == "-"

    @property
    def is_proved(self):
        """True for the long suites, which do not run in each landing."""
        return not self.is_part and "yes" not in self.cells["all"].words

    @property
    def may_skip(self):
        return "may-skip" in self.cells["full"].words


@dataclass(frozen=True)
class Proof:
    """A row of proofs.tsv: the suite passed at `commit`, where its inputs had the hash `inputs`."""

    suite: str
    inputs: str
    commit: str
    day: str
    seconds: str
    passed: str
    failed: str
    skipped: str

    def __str__(self):
        return f"proved on {self.day} at {self.commit[:8]}: {self.passed} passed, {self.skipped} skipped, in {self.seconds} s"


def read_suites(text):
    suites = []
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        if None in row or None in row.values():
            raise Failure(f"{SUITES}: expected {len(row) - (None in row)} columns, found others in the row of {row['suite']}")
        cells = {mode: Cell.read(row[mode], f"{row['suite']}, column {mode}") for mode in MODES}
        suites.append(Suite(row["suite"], cells, tuple(need for need in row["needs"].split() if need != "-"), tuple(row["inputs"].split()), row["command"],
                            row["proves"]))
    names = [suite.name for suite in suites]
    if len(set(names)) != len(names):
        raise Failure(f"{SUITES}: expected each name once, found {sorted(name for name in names if names.count(name) > 1)}")
    return suites


def read_proofs(text):
    try:
        return {row["suite"]: Proof(**row) for row in csv.DictReader(text.splitlines(), delimiter="\t")}
    except TypeError:
        raise Failure(f"{PROOFS}: expected the columns {list(Proof.__annotations__)} in each row") from None


class Repository:
    """A checkout: its suites, and the proofs of the commit that landed last."""

    def __init__(self, root, today):
        self.root, self.today = root, today
        self.suites = read_suites(self.text(SUITES))
        self.commit = self.git("rev-parse", "HEAD")
        self.landed = self.last_landed()
        # Changes are those since main of the place that this checkout was cloned from, if git knows it.
        self.base = self.git("rev-parse", "--verify", "--quiet", "refs/remotes/origin/main^{commit}", check=False) or self.landed

    def git(self, *arguments, environment=None, check=True):
        done = subprocess.run(["git", *arguments], cwd=self.root, env=environment, capture_output=True, text=True)
        if done.returncode and check:
            raise Failure(f"git {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip() if not done.returncode else None

    def text(self, name):
        try:
            with open(os.path.join(self.root, name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def suite(self, name):
        for suite in self.suites:
            if suite.name == name and not suite.is_part:
                return suite
        raise Failure(f"expected the name of a suite of {SUITES}, found '{name}'; they are: " +
                      ", ".join(suite.name for suite in self.suites if not suite.is_part))

    def parts(self, suite):
        """The rows without a command that stand below a suite."""
        below = self.suites[self.suites.index(suite) + 1:]
        end = next((at for at, other in enumerate(below) if not other.is_part), len(below))
        return below[:end]

    # Landings

    def landings(self, text):
        return [row["commit"] for row in csv.DictReader(text.splitlines(), delimiter="\t")]

    def is_ancestor(self, one, other):
        return self.git("merge-base", "--is-ancestor", one, other, check=False) is not None

    def last_landed(self):
        """The commit of the last row of landings.tsv, which only grows; None if the history does not have it."""
        landings = self.landings(self.text(LANDINGS))
        if not landings or self.git("cat-file", "-e", f"{landings[-1]}^{{commit}}", check=False) is None:
            return None
        landed = landings[-1]
        if not self.is_ancestor(landed, self.commit):
            raise Failure(f"{LANDINGS}: expected a commit of this history in its last row, found {landed[:8]}")
        before = self.landings(self.git("show", f"{landed}:{LANDINGS}", check=False) or "")
        if landings[:-1] != before:
            raise Failure(f"{LANDINGS}: expected the rows that {landed[:8]} has, and one for it; found {len(landings)} rows that differ")
        return landed

    def land(self, commit):
        commit = self.git("rev-parse", f"{commit}^{{commit}}")
        rows = self.landings(self.text(LANDINGS))
        if commit in rows:
            raise Failure(f"{LANDINGS} has {commit[:8]} already")
        with open(os.path.join(self.root, LANDINGS), "a") as file:
            file.write(("" if rows else "commit\tday\n") + f"{commit}\t{self.today}\n")

    # Inputs

    def tree(self):
        """The tree of the files as they are now, with those that git does not know yet."""
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, GIT_INDEX_FILE=os.path.join(folder, "index"))
            self.git("read-tree", "HEAD", environment=environment)
            self.git("add", "--all", environment=environment)
            return self.git("write-tree", environment=environment)

    def inputs_hash(self, suite, tree):
        """A hash of the files that a suite depends on, in a tree or a commit, and of its row."""
        listed = self.git("ls-tree", "-r", "--full-tree", tree, "--", *self.paths(suite)).splitlines()
        row = "\t".join((suite.name, suite.command, " ".join(suite.inputs)))
        return hashlib.sha256("\n".join([row, *listed]).encode()).hexdigest()[:32]

    def paths(self, suite):
        return () if suite.inputs == ("*",) else suite.inputs

    def check_inputs(self):
        """Fails if an input is not there: a change of it could not be seen."""
        names = self.git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        for suite in self.suites:
            for path in self.paths(suite):
                if not any(name == path or name.startswith(path + "/") for name in names):
                    raise Failure(f"{SUITES}: {suite.name}: expected the input {path} to be there, found nothing")

    # Decisions

    def landed_proofs(self):
        return read_proofs((self.landed and self.git("show", f"{self.landed}:{PROOFS}", check=False)) or "")

    def decide(self, suite, mode):
        """Whether a suite runs, whether only a part of it does, and why not. Shape: `(bool, bool, str)`."""
        words = suite.cell(mode).words
        if suite.is_part:
            return False, False, ""
        if "yes" in words:
            return True, False, ""
        inputs = self.inputs_hash(suite, self.tree())
        if "changed" in words:
            was = self.base and self.suite_of(suite.name, self.base)
            if not was or self.inputs_hash(was, self.base) != inputs:
                return True, False, ""
            return False, False, f"its inputs are those of {self.base[:8]}, which has landed"
        if "unproved" in words:
            proof = self.landed_proofs().get(suite.name)
            if not proof or proof.inputs != inputs:
                return True, False, ""
            return "part" in words, True, str(proof)
        if "part" in words:
            return True, True, ""
        return False, False, "./test --all runs it" if "no" not in suite.cell("all").words else "./test --full runs it"

    def suite_of(self, name, commit):
        rows = read_suites(self.git("show", f"{commit}:{SUITES}", check=False) or "suite")
        return next((suite for suite in rows if suite.name == name), None)

    # Proofs

    def keep(self, suite, inputs, seconds, found):
        """Writes the proof of a suite that has passed."""
        kept = read_proofs(self.text(PROOFS))
        kept[suite.name] = Proof(suite.name, inputs, self.commit, str(self.today), str(seconds), *map(str, (found.passed, found.failed, found.skipped)))
        columns = list(Proof.__annotations__)
        rows = [kept[suite.name] for suite in self.suites if suite.is_proved and suite.name in kept]
        lines = ["\t".join(columns)] + ["\t".join(getattr(proof, column) for column in columns) for proof in rows]
        name = os.path.join(self.root, PROOFS)
        with open(name + ".new", "w") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(name + ".new", name)

    def fault(self, suite, proof):
        """What is wrong with a proof, or None."""
        if proof is None:
            return f"no proof; run: ./test --suite '{suite.name}', and commit {PROOFS}"
        if not re.fullmatch("[0-9a-f]{40}", proof.commit) or not self.is_ancestor(proof.commit, self.commit):
            return f"expected a commit of this history, found {proof.commit}"
        was = self.suite_of(suite.name, proof.commit)
        if was is None or self.inputs_hash(was, proof.commit) != proof.inputs:
            return f"expected the hash of the inputs that {proof.commit[:8]} has, found {proof.inputs}"
        if not (int(proof.passed) > 0 or suite.may_skip and int(proof.skipped) > 0) or int(proof.failed) != 0:
            return f"expected tests that passed and none that failed, found {proof.passed} and {proof.failed}"
        if datetime.date.fromisoformat(proof.day) > self.today:
            return f"expected a day until {self.today}, found {proof.day}"
        age = sum(self.is_ancestor(proof.commit, landing) for landing in self.landings(self.text(LANDINGS)))
        if age > LANDINGS_MAX:
            return f"its proof is {age} landings old, expected at most {LANDINGS_MAX}; run: ./test --full, and commit {PROOFS}"
        return None

    def check_proofs(self):
        """Fails if a proof is missing, forged or old. Shape: a line for each that is some days old."""
        kept = read_proofs(self.text(PROOFS))
        proved = [suite for suite in self.suites if suite.is_proved]
        # A suite that came since the last landing has until the next one.
        new = [suite for suite in proved if suite.name not in kept and not (self.landed and self.suite_of(suite.name, self.landed))]
        faults = {suite.name: self.fault(suite, kept.get(suite.name)) for suite in proved if suite not in new}
        lines = [f"{PROOFS}: {name}: {fault}" for name, fault in faults.items() if fault]
        lines += [f"{PROOFS}: expected the name of a long suite, found {name}" for name in kept.keys() - {suite.name for suite in proved}]
        if lines:
            raise Failure("\n".join(lines))
        days = {name: (self.today - datetime.date.fromisoformat(kept[name].day)).days for name in faults}
        return [f"warning: {name}: its proof is {count} days old; run: ./test --full" for name, count in days.items() if count > DAYS_MAX] + [
            f"warning: {suite.name}: it is new and has no proof; the next landing fails without: ./test --suite '{suite.name}'" for suite in new]

    def check_own(self):
        self.check_proofs()
        kept, tree = read_proofs(self.text(PROOFS)), self.tree()
        others = [suite.name for suite in self.suites
                  if suite.is_proved and (suite.name not in kept or kept[suite.name].inputs != self.inputs_hash(suite, tree))]
        if others:
            raise Failure("expected proofs of these files, found older ones of: " + ", ".join(others) + "; run: ./test --full, and commit " + PROOFS)
