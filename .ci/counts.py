"""Counts the tests of a suite in its output."""
import re
from dataclasses import dataclass

# What the runners print, each for all its tests. Shape: passed, failed, skipped; Maven: run, failures, errors, skipped.
CARGO = re.compile(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
NEXTEST = re.compile(r"Summary \[.*\] +(\d+) tests? run: (\d+) passed.*?(?:, (\d+) skipped)?$")
MAVEN = re.compile(r"(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$")
PLAIN = re.compile(r"(?:\S+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


@dataclass(frozen=True)
class Counts:
    """How many tests passed, failed, and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __bool__(self):
        return self != Counts()

    def __str__(self):
        return f"{self.passed} passed" + (f", {self.failed} failed" if self.failed else "") + (f", {self.skipped} skipped" if self.skipped else "")


def read(lines):
    """The sum of all lines that count tests."""
    total = Counts()
    for line in lines:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
        if found := CARGO.match(line) or PLAIN.match(line):
            total += Counts(*(int(number or 0) for number in found.groups()))
        elif found := NEXTEST.match(line):
            run, passed, skipped = (int(number or 0) for number in found.groups())
            total += Counts(passed, run - passed, skipped)
        elif found := MAVEN.match(line):
            run, failures, errors, skipped = map(int, found.groups())
            total += Counts(run - failures - errors - skipped, failures + errors, skipped)
    return total
