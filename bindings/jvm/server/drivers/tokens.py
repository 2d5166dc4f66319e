"""Logs in at a Gremlin Server with TLS and tokens: tokens.py PORT CERTIFICATE.pem ADA_TOKEN EVE_TOKEN REVOKE…

Ada has the role write and Eve the role read. REVOKE is the command that revokes Ada's token.
"""
import asyncio
import ssl
import subprocess
import sys

import aiohttp
from gremlin_python.driver.client import Client
from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
from gremlin_python.process.anonymous_traversal import traversal

port, certificate, ada, eve = sys.argv[1:5]
revoke = sys.argv[5:]
context = ssl.create_default_context(cafile=certificate)


def count(client):
    return client.submit("g.V().count()").all().result()


def refused(what, text, work):
    try:
        work()
    except Exception as error:  # Drivers have many classes for it.
        assert text in str(error), f"{what}: {error!r}"
    else:
        raise AssertionError(f"{what} was let in")


def client(name, token):
    return Client(f"wss://localhost:{port}/gremlin", "g", pool_size=1, username=name, password=token, ssl_options=context)


async def handshake(host):
    async with aiohttp.ClientSession() as web:
        async with web.ws_connect(f"wss://localhost:{port}/gremlin", headers={"Host": host}, ssl=context):
            return 101


assert asyncio.run(handshake("annals.example")) == 101
refused("a foreign host", "421", lambda: asyncio.run(handshake("evil.example")))
refused("no token", "authentication", lambda: count(client("", "")))
refused("a wrong token", "token", lambda: count(client("ada", ada[:-1] + ("1" if ada.endswith("0") else "0"))))
refused("another name", "token", lambda: count(client("eve", ada)))
refused("a token that only reads", "role write", lambda: count(client("eve", eve)))
refused("no TLS", "", lambda: count(Client(f"ws://localhost:{port}/gremlin", "g", username="ada", password=ada)))
known = client("ada", ada)
assert count(known) == [0]
# The name of the token signs, and no other.
connection = DriverRemoteConnection(f"wss://localhost:{port}/gremlin", "g", username="ada", password=ada, ssl_options=context)
g = traversal().with_remote(connection)
of_steps = g.add_v("mountain").next()
g.with_("author", "ada").V(of_steps.id).property("height", 1).iterate()
of_text = known.submit("g.addV('mountain')").all().result()[0]
session = g.tx()
own = session.begin()
of_session = own.add_v("mountain").next()
session.commit()
for one, versions in ((of_steps, 2), (of_text, 1), (of_session, 1)):
    assert [version["author"] for version in g.V(one.id).call("history").to_list()] == versions * ["ada"], one
refused("steps of another author", "the name of the token", lambda: g.with_("author", "eve").V(of_steps.id).drop().iterate())
refused("a text of another author", "the name of the token",
        lambda: known.submit("g.with('author', 'eve').V().drop()").all().result())
g.V().drop().iterate()
connection.close()
subprocess.run(revoke, check=True, stdout=subprocess.DEVNULL)
refused("a token that was revoked meanwhile", "revoked", lambda: count(known))
refused("a revoked token", "token", lambda: count(client("ada", ada)))
print("tokens: all as expected")
