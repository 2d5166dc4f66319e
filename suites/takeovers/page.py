"""Writes docs/results/takeovers.md from a run."""
import pathlib
import platform
import subprocess
import time

from judge import Verdict
from rules import RULES


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


def write(path: pathlib.Path, verdict: Verdict, command: str, seconds: float) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = [
        "# Takeovers",
        "",
        "Three servers over one log in PostgreSQL, with faults between them, and a judge that uses no code of Annals:",
        "[how](../takeovers.md). `suites/takeovers/run` made this page.",
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
    path.write_text("\n".join(lines), encoding="utf-8")
