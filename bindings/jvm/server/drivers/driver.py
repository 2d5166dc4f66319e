"""Asks a Gremlin Server on a repository of Annals what its users ask: driver.py URL."""
import sys
import time

from gremlin_python.driver.client import Client
from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import __

url = sys.argv[1]
connection = DriverRemoteConnection(url, "g")
g = traversal().with_remote(connection)

ada = g.add_v("person").property("name", "Ada").property("age", 36).next()
bob = g.add_v("person").property("name", "Bob").next()
g.add_e("knows").from_(__.V(ada.id)).to(__.V(bob.id)).iterate()
assert g.V().has("person", "name", "Ada").out("knows").values("name").to_list() == ["Bob"]
assert g.V().value_map().to_list() == [{"name": ["Ada"], "age": [36]}, {"name": ["Bob"]}]

g.V(ada.id).property("name", "Countess").iterate()
assert g.V(ada.id).values("name").next() == "Countess"
assert g.with_("position", 3).V(ada.id).values("name").next() == "Ada"

river = g.with_("author", "ada").with_("message", "first").add_v("river").property("length", 777).next()
g.with_("author", "bob").V(river.id).property("length", 776).iterate()
g.V(river.id).drop().iterate()
deletion, second, first = g.call("history", {"vertex": river.id}).to_list()
assert (first["version"], first["author"], first["message"], first["properties"]) == (1, "ada", "first", {"length": 777}), first
assert (second["author"], second["message"], deletion["author"], deletion["action"]) == ("bob", "", "", "delete"), (second, deletion)
assert g.with_("at", first["at"]).V(river.id).values("length").next() == 777
assert g.with_("at", "yesterday").V().count().next() == 0
assert [version["properties"]["name"] for version in g.V(ada.id).call("history").to_list()] == ["Countess", "Ada"]


def refused_steps(traversal, text):
    try:
        found = traversal.to_list()
    except GremlinServerError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{traversal} gave {found}")


rows = [{"name": "Rome"}, {"name": "Oslo"}]
g.inject(rows).unfold().as_("row").add_v("city").property("name", __.select("row").select("name")).iterate()
assert sorted(g.V().has_label("city").values("name").to_list()) == ["Oslo", "Rome"]
g.V().has_label("city").drop().iterate()
refused_steps(g.with_("position", 1).add_v("person"), "the past cannot be changed")
refused_steps(g.with_("at", "now").V(ada.id).drop(), "the past cannot be changed")
refused_steps(g.with_("positon", 1).V(), "expected at, position, author, message")
refused_steps(g.with_("at", "last week").V(), "today or yesterday")
assert g.with_("evaluationTimeout", 4000).V().count().next() == 2

session = g.tx()
own = session.begin()
own.add_v("person").iterate()
assert own.V().count().next() == 3
session.rollback()
session = g.tx()
own = session.begin()
city = own.with_("author", "eve").add_v("city").next()
session.commit()
assert [version["author"] for version in g.V(city.id).call("history").to_list()] == ["eve"]
g.V(city.id).drop().iterate()
assert g.V().count().next() == 2
connection.close()

client = Client(url, "g")


def refused(script, code, within):
    """The script is refused with the code, in time."""
    start = time.time()
    try:
        found = client.submit(script).all().result()
    except GremlinServerError as error:
        assert error.status_code == code, error
        assert time.time() - start < within, script
    else:
        raise AssertionError(f"{script} gave {found}")


# More of them than the server has threads: each ends.
for _ in range(5):
    refused("g.inject(1).repeat(__.identity())", 598, 60)
refused("g.V().nonsense()", 597, 30)
refused("g.with('position', 1).addV('person')", 597, 30)
refused("g.with('positon', 1).V()", 597, 30)
client.submit("g.with('author', 'carl').addV('city').property(id, 'rome')").all().result()
assert client.submit("g.V('rome').call('history')").all().result()[0]["author"] == "carl"
client.submit("g.V('rome').drop()").all().result()
assert client.submit("g.call('history', [vertex: 'rome'])").all().result()[0]["action"] == "delete"
count = sum(len(part) for part in client.submit(
    "g.inject(1).repeat(__.union(__.identity(), __.identity())).times(20).limit(1000000)"))
assert count == 1_000_000, count
assert client.submit("g.V().count()").all().result() == [2]
client.close()
print("python: all as expected")
