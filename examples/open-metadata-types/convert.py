"""Turns the facts of the open metadata type archive (one JSON document) into types that `annals types load` reads.

Usage: convert.py ARCHIVE.json > types.jsonl
"""

import json
import sys

VALUE_TYPES = {
    "object": "any", "boolean": "boolean", "byte": "integer", "char": "string", "short": "integer", "int": "integer",
    "long": "integer", "float": "float", "double": "float", "biginteger": "decimal", "bigdecimal": "decimal",
    "string": "string", "date": "timestamp",
}


def status(name):
    """The name of a status as Annals writes it."""
    return name.lower().replace(" ", "-")


def deprecation(of, mark):
    """Whether something is deprecated, and what replaces it."""
    if of.get("status") != mark:
        return {}
    return {"deprecated": True} | ({"replacedBy": of["replacedBy"]} if "replacedBy" in of else {})


def attribute(given):
    """An attribute of any kind of type."""
    result = {"name": given["name"]}
    name = given["type"]
    if name.startswith("enum:"):
        result["enum"] = name.removeprefix("enum:")
    elif "<" in name:
        outer, inner = name.rstrip(">").split("<")
        result["type"] = {"map": "map", "array": "list"}[outer]
        items = VALUE_TYPES[inner.split(",")[-1]]
        if items != "any":
            result["items"] = items
    else:
        result["type"] = VALUE_TYPES[name]
    if given.get("unique"):
        result["unique"] = True
    return result | deprecation(given, "DeprecatedAttribute")


def definition(kind, given):
    """What all kinds of types have."""
    result = {"kind": kind, "name": given["name"], "externalId": given["guid"]}
    if given.get("version", 1) != 1:
        result["version"] = given["version"]
    if "super" in given:
        result["supertypes"] = [given["super"]]
    if kind != "enum":
        result["statuses"] = [status(name) for name in given["validStatus"] if name != "Deleted"]
        result["initialStatus"] = status(given["initialStatus"])
        # Who writes open metadata sees to uniqueness and cardinalities; a repository takes what is written.
        result |= {"closed": True, "advisory": True}
        if given["attributes"]:
            result["attributes"] = [attribute(each) for each in given["attributes"]]
    return result | deprecation(given, "DeprecatedTypeDef")


def end(given):
    """An end of a relationship type."""
    return {
        "type": given["entityType"], "name": given["attribute"], "many": given["cardinality"] == "Any Number",
    }


def types(archive):
    """All types, in the order in which they can be read."""
    for given in archive["enums"]:
        yield definition("enum", given) | {"elements": given["values"]}
    for given in archive["entities"]:
        yield definition("entity", given)
    for given in archive["relationships"]:
        yield definition("relationship", given) | {"from": end(given["end1"]), "to": end(given["end2"])}
    for given in archive["classifications"]:
        propagatable = {"propagatable": True} if given["propagatable"] else {}
        yield definition("classification", given) | {"appliesTo": given["validEntityDefs"]} | propagatable


def main():
    """Prints one type per line."""
    with open(sys.argv[1], encoding="utf-8") as file:
        archive = json.load(file)
    for each in types(archive):
        print(json.dumps(each, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
