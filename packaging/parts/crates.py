"""The list of the crates that are in the program, in the format CycloneDX, for audits."""
import json
import os

from source import MACHINES, ROOT, run


def make(source, folder):
    listed = set()
    for triple, *_ in MACHINES.values():
        command = ["cargo", "tree", "--locked", "-p", "annals-cli", "--target", triple, "-e", "normal", "--prefix", "none", "--format", "{p}|{l}"]
        for line in run(*command, text=True, cwd=ROOT).splitlines():
            package, licence = line.replace(" (*)", "").split("|")
            name, version = package.split()[:2]
            listed.add((name, version.removeprefix("v"), licence.strip()))
    components = [{"type": "library", "name": name, "version": version, "purl": f"pkg:cargo/{name}@{version}",
                   "licenses": [{"expression": licence.replace("/", " OR ")}]} for name, version, licence in sorted(listed)]
    made = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "annals", "version": source.version}}, "components": components}
    with open(os.path.join(folder, f"annals-{source.version}.cdx.json"), "w") as file:
        json.dump(made, file, indent=1, sort_keys=True)
        file.write("\n")
