"""Turns columns, as `annals find --json` prints them, into operations that classify them as pii: pii.py SENSITIVITY WHY"""

import json
import sys

sensitivity, why = sys.argv[1:]
columns = [json.loads(line) for line in sys.stdin]
properties = {"sensitivity": sensitivity, "why": why}
print(json.dumps([
    {"action": "classify", "id": column["id"], "classification": "pii", "properties": properties}
    for column in columns
    if "id" in column  # The last line may say where the next page begins.
]))
