#!/usr/bin/env python3
"""Prints the tables and columns of a folder as JSON Lines for `annals import`: crawl.py FOLDER

The files are FOLDER/OWNER/TABLE.csv and FOLDER/OWNER/TABLE.jsonl. Another format needs another reader below.
"""

import csv
import json
import sys
from pathlib import Path


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read_jsonl(path):
    with path.open() as file:
        return [json.loads(line) for line in file]


READERS = {".csv": read_csv, ".jsonl": read_jsonl}


def kind_of(values):
    """What all values of a column are: `integer`, `number` or `text`."""
    for kind, parse in (("integer", int), ("number", float)):
        try:
            for value in values:
                parse(str(value))
            return kind
        except ValueError:
            pass
    return "text"


def write(kind, **fields):
    print(json.dumps({kind: fields}))


def crawl(folder):
    for path in sorted(folder.glob("*/*")):
        read = READERS.get(path.suffix)
        if read is None:
            print(f"{path}: left out, no reader for {path.suffix}", file=sys.stderr)
            continue
        rows = read(path)
        table = f"table:{path.stem}"
        file = path.relative_to(folder).as_posix()
        properties = {"name": path.stem, "owner": path.parent.name, "file": file, "rows": len(rows)}
        write("entity", id=table, type="table", properties=properties)
        for name in dict.fromkeys(name for row in rows for name in row):
            column = f"column:{path.stem}.{name}"
            holds = kind_of([row[name] for row in rows if row.get(name) is not None])
            write("entity", id=column, type="column", properties={"name": name, "holds": holds})
            write("relationship", type="has-column", **{"from": table, "to": column})


crawl(Path(sys.argv[1]))
