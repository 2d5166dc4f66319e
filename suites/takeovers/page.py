"""Writes docs/results/takeovers.md from a run."""
import pathlib
import platform
import subprocess
import time

from judge import Verdict
from rules import RULES
from stores.subjects import SUBJECTS

HEAD = """# Takeovers

Three servers over one log, with faults between them, and a judge that uses no code of Annals: [how](../takeovers.md).
`suites/takeovers/run` made this page.
"""


def machine() -> str:
    """Processor, cores and memory."""
    model, memory, cores = "", "", 0
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model, cores = line.split(":", 1)[1].strip(), cores + 1
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal"):
            memory = f"{int(line.split()[1]) // (1 << 20)} GiB"
    return f"{cores} cores of {model or platform.machine()}, {memory}"


def section(what: str, verdict: Verdict, command: str, seconds: float) -> str:
    """What one run found."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = [
        f"## {what[0].upper()}{what[1:]}",
        "",
        f"Commit `{commit}`, {time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}, debug build, "
        f"`{command}`, {seconds / 60:.0f} minutes.",
        "",
        "| in the run | |",
        "|---|---|",
        *(f"| {name} | {count:,} |" for name, count in verdict.counts.items()),
        f"| kinds of faults | {len(verdict.kinds)} |",
        f"| longest time from `kill -9` of the writer to the first acknowledged write | {verdict.recovered_max:.1f} s |",
        "",
        "| rule | broken |",
        "|---|---|",
        *(f"| {(rule.__doc__ or '').strip().rstrip('.')} | {len(verdict.found[rule.__name__])} |" for rule in RULES),
        "",
    ]
    return "\n".join(lines)


def write(path: pathlib.Path, what: str, verdict: Verdict, command: str, seconds: float) -> None:
    """Writes the section of a subject; those of the others stay."""
    known = {}
    for text in path.read_text(encoding="utf-8").split("\n## ")[1:] if path.exists() else []:
        known[text.split("\n", 1)[0].lower()] = f"## {text.strip()}\n"
    known[what.lower()] = section(what, verdict, command, seconds)
    sections = [known[name.lower()] for name, _ in SUBJECTS.values() if name.lower() in known]
    path.write_text("\n".join([HEAD, *sections]), encoding="utf-8")
