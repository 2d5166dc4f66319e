#!/usr/bin/env python3
"""Fails if the sources have grown by much since the last landing, and no commit says why."""
import datetime
import os
import sys

import proofs

# Units: lines added less lines removed, outside tests and the lab.
LINES_MAX = 1_500
SOURCES = ("*.rs", "*.java", "*.py", "*.ts", "*.js", "*.groovy")
# Tests, and what only measures.
LEFT_OUT = ("lab/", "fuzz/", "suites/")


def is_source(name):
    return not name.startswith(LEFT_OUT) and not any("test" in part for part in name.split("/"))


def growth(repository):
    """How many lines the sources have more than those of the commit that landed last."""
    rows = repository.git("diff", "--numstat", "--no-renames", repository.landed, repository.tree(), "--", *SOURCES).splitlines()
    counted = (row.split("\t") for row in rows)
    return sum(int(added) - int(removed) for added, removed, name in counted if is_source(name) and added != "-")


def reasons(repository):
    text = repository.git("log", "--format=%(trailers:key=Grown,valueonly)", f"{repository.landed}..HEAD")
    return [line for line in text.splitlines() if line.strip()]


def check(repository):
    """What to print. Fails if nobody says why."""
    if repository.landed is None:
        return "the commit that landed last is not in this history: growth is not known"
    lines, why = growth(repository), reasons(repository)
    if lines > LINES_MAX and not why:
        raise proofs.Failure(f"the sources have {lines} lines more than those of {repository.landed[:8]}, expected at most {LINES_MAX}: look for what is "
                             "there already, or say why in a commit, in a line `Grown: …` at the end of its message")
    return "; ".join([f"the sources have {lines:+} lines since {repository.landed[:8]}"] + why)


if __name__ == "__main__":
    try:
        print(check(proofs.Repository(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), datetime.date.today())))
    except proofs.Failure as failure:
        sys.exit(f"growth: {failure}")
