"""Writes the table of CONTRIBUTING.md from suites.tsv."""
import os

from proofs import Failure, MODES

PAGE, BEGIN, END = "CONTRIBUTING.md", "<!-- from .ci/suites.tsv by .ci/suites.py table -->\n", "<!-- end of the table -->\n"
WORDS = {"changed": "if its inputs have changed", "unproved": "if its inputs have no proof", "part": "a quarter", "beside": "beside the others", "may-skip": ""}


def cell(found):
    if {"unproved", "part"} <= found.words:
        words = ["all if its inputs have no proof, otherwise a quarter"]
    else:
        words = [WORDS.get(word, word) for word in sorted(found.words, key=list(WORDS).__contains__)]
    text = ", ".join(word for word in words if word)
    values = ", ".join(f"`{name}={value}`" for name, value in found.variables)
    return values if values and text == "yes" else ", ".join(filter(None, [text, values]))


def rows(repository):
    yield "| what is tested | by | `./test` | `./test --all` | `./test --full` |"
    yield "|---|---|---|---|---|"
    for suite in repository.suites:
        yield f"| {suite.name} | {suite.proves} | " + " | ".join(cell(suite.cell(mode)) for mode in MODES) + " |"


def write(repository, is_check):
    name = os.path.join(repository.root, PAGE)
    with open(name) as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise Failure(f"{PAGE}: expected the lines {BEGIN.strip()} and {END.strip()} once")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    made = before + BEGIN + "\n" + "\n".join(rows(repository)) + "\n\n" + END + after
    if is_check and made != text:
        raise Failure(f"{PAGE}: its table is not that of .ci/suites.tsv; run: .ci/suites.py table")
    with open(name, "w") as file:
        file.write(made)
