#!/usr/bin/env python3
"""Fails if a read or a commit takes more instructions than at the last landing, and no commit says why."""
import datetime
import os
import sys

import proofs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "lab", "cost"))
import cost  # noqa: E402 (its folder is known only now)

# Share by which a line may take more than at the last landing, and by which the kept figures may be off.
MORE_MAX = 0.05
OFF_MAX = 0.05


def kept_at(repository, commit):
    """The figures that a commit kept, or None."""
    if commit is None or cost.KEPT not in repository.git("ls-tree", "--name-only", commit, cost.KEPT):
        return None
    return cost.read_kept(repository.git("show", f"{commit}:{cost.KEPT}"))


def reasons(repository):
    commits = f"{repository.landed}..HEAD" if repository.landed else "HEAD"
    text = repository.git("log", "--format=%(trailers:key=Costs,valueonly)", commits)
    return [line for line in text.splitlines() if line.strip()]


def dearer(measured, before):
    """The lines that take more than before, in words."""
    found = []
    for c in measured:
        earlier = before.get(c.line)
        if earlier and c.instructions > (1 + MORE_MAX) * earlier.instructions:
            found.append(f"{c.line} takes {c.instructions:,.0f} instructions, {c.instructions / earlier.instructions - 1:.0%} more than {earlier.instructions:,.0f}")
    return found


def off(measured, kept):
    """The lines whose kept figures are not those of this checkout."""
    return [c.line for c in measured if c.line not in kept or abs(c.instructions / kept[c.line].instructions - 1) > OFF_MAX]


def check(repository, measured, compiler, kept):
    """What to print. Fails if a line takes more and nobody says why, or if the kept figures are not those of this checkout."""
    landed = kept_at(repository, repository.landed)
    said = [cost.table(measured, landed[1] if landed else {})]
    if compiler != kept[0]:
        return f"{said[0]}\nnot compared: {cost.KEPT} is of {kept[0]}, this is {compiler}"
    if landed and landed[0] == compiler:
        more, why = dearer(measured, landed[1]), reasons(repository)
        if more and not why:
            raise proofs.Failure(f"{said[0]}\n{'; '.join(more)}. Find out by which change (lab/annals-lab cost COMMIT…), or say why in a commit, in a line "
                                 "`Costs: …` at the end of its message")
        said += more + why
    if wrong := off(measured, kept[1]):
        raise proofs.Failure(f"{said[0]}\n{cost.KEPT} has other figures of {', '.join(wrong)}: lab/annals-lab cost --keep, and commit the file")
    return "\n".join(said)


if __name__ == "__main__":
    try:
        with open(os.path.join(ROOT, cost.KEPT)) as file:
            kept_now = cost.read_kept(file.read())
        print(check(proofs.Repository(ROOT, datetime.date.today()), cost.costs(cost.build(cost.ROOT)), cost.compiler(), kept_now))
        print("1 passed, 0 failed")
    except (proofs.Failure, cost.Failure) as failure:
        sys.exit(f"costs: {failure}")
