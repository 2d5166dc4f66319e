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

session = g.tx()
own = session.begin()
own.add_v("person").iterate()
assert own.V().count().next() == 3
session.rollback()
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
count = sum(len(part) for part in client.submit(
    "g.inject(1).repeat(__.union(__.identity(), __.identity())).times(20).limit(1000000)"))
assert count == 1_000_000, count
assert client.submit("g.V().count()").all().result() == [2]
client.close()
print("python: all as expected")
