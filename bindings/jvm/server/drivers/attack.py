"""Attacks a Gremlin Server on a repository of Annals, which must refuse all of it and still answer: attack.py URL PID.

PID is the process of the server, or one above it. The limit of a request must be 5 seconds.
"""
import asyncio
import json
import os
import pathlib
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import aiohttp

URL, PID = sys.argv[1], int(sys.argv[2])
PLACE = urllib.parse.urlsplit(URL).netloc
EVIL = "http://evil.example"
# Most seconds until a request with the longest time has ended.
CUT_S = 10
folder = pathlib.Path(tempfile.mkdtemp())
failed = []


def expect(is_right, what):
    print(("as expected: " if is_right else "WRONG: ") + what, flush=True)
    if not is_right:
        failed.append(what)


def over_http(what, path, headers, body=None):
    request = urllib.request.Request(f"http://{PLACE}{path}", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            status = answer.status
    except urllib.error.HTTPError as error:
        status = error.code
    except OSError:
        status = 0
    expect(status >= 400 or status == 0, f"{what} (status {status})")


def message(gremlin, op="eval", processor="", **args):
    request = {
        "requestId": {"@type": "g:UUID", "@value": str(uuid.uuid4())}, "op": op, "processor": processor,
        "args": {"@type": "g:Map", "@value": [
            part for pair in {"gremlin": gremlin, "aliases": {"@type": "g:Map", "@value": ["g", "g"]}, **args}.items()
            for part in pair]},
    }
    kind = b"application/vnd.gremlin-v3.0+json"
    return bytes([len(kind)]) + kind + json.dumps(request).encode()


def steps(*all_steps):
    return {"@type": "g:Bytecode", "@value": {"step": [list(step) for step in all_steps]}}


def number(value):
    return {"@type": "g:Int64", "@value": value}


async def connected(work, headers=None):
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(URL, headers=headers or {}) as socket:
            return await work(socket)


async def status(sent):
    async def ask(socket):
        await socket.send_bytes(sent)
        while True:
            answer = await asyncio.wait_for(socket.receive(), 4 * CUT_S)
            if answer.data is None or isinstance(answer.data, int):
                return 0
            code = json.loads(answer.data)["status"]["code"]
            if code != 206:
                return code
    return await connected(ask)


def ask(sent):
    """The status that a request ends with; 0 if it gets none."""
    try:
        return asyncio.run(status(sent))
    except (asyncio.TimeoutError, aiohttp.ClientError, OSError):
        return 0


def handshake(what, headers, expected):
    async def open_it(_socket):
        return 101
    try:
        found = asyncio.run(connected(open_it, headers))
    except aiohttp.WSServerHandshakeError as error:
        found = error.status
    expect(found == expected, f"{what} (status {found})")


def refused(what, sent):
    expect(ask(sent) not in (0, 200, 204), what)


def processes(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in processes(int(child)))]


def cpu_s():
    ticks = 0
    for pid in processes(PID):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def is_calm():
    """True if the server soon uses less than a quarter of a processor."""
    for _ in range(3):
        before = cpu_s()
        time.sleep(1)
        if cpu_s() - before < 0.25:
            return True
    return False


def cut(what, sent):
    start = time.time()
    code = ask(sent)
    expect(code not in (0, 200, 204) and time.time() - start < CUT_S and is_calm(), f"{what} (status {code})")


async def leave(sent):
    async def send(socket):
        await socket.send_bytes(sent)
        await asyncio.sleep(1)
    await connected(send)


touch = f'"touch {folder}/pwned".execute().waitFor()'
over_http("HTTP by a foreign name", "/gremlin?" + urllib.parse.urlencode({"gremlin": touch}),
          {"Host": "evil.example", "Origin": EVIL})
over_http("HTTP from a foreign page", "/", {"Content-Type": "text/plain", "Origin": EVIL},
          json.dumps({"gremlin": '"id".execute().text'}).encode())
over_http("HTTP", "/gremlin", {"Content-Type": "application/json"}, json.dumps({"gremlin": "g.V().count()"}).encode())
handshake("a WebSocket of a foreign page", {"Origin": EVIL}, 403)
handshake("a WebSocket of a page without an origin", {"Origin": "null"}, 403)
handshake("a WebSocket of a page of another port", {"Origin": "http://127.0.0.1:1"}, 403)
handshake("a WebSocket by a foreign name", {"Host": "evil.example", "Origin": EVIL}, 421)
handshake("a WebSocket by a foreign name with our port", {"Host": "evil.example:" + PLACE.rsplit(":", 1)[1]}, 421)
handshake("a WebSocket of our own origin", {"Origin": f"http://{PLACE}"}, 101)
for language in ({}, {"language": "gremlin-groovy"}, {"language": "groovy"}):
    for session in ({}, {"processor": "session", "session": str(uuid.uuid4())}):
        for script in ('"id".execute().text', touch, "new File('/etc/hostname').text", "Thread.sleep(1)"):
            refused(f"{script} {language} {session}", message(script, **language, **session))
expect(not (folder / "pwned").exists(), "no file was made by a script")
refused("a lambda", message(steps(["inject", number(1)], ["map", {"@type": "g:Lambda", "@value": {
    "script": '"id".execute().text', "language": "gremlin-groovy", "arguments": 1}}]), "bytecode", "traversal"))
refused("a lambda in a session", message(steps(["inject", number(1)], ["map", {"@type": "g:Lambda", "@value": {
    "script": '"id".execute().text', "language": "gremlin-groovy", "arguments": 1}}]), "bytecode", "session",
    session=str(uuid.uuid4())))
(folder / "read.json").write_text("")
for verb in ("read", "write"):
    target = str(folder / f"{verb}.json")
    refused(f"io().{verb}() in a script", message(f'g.io("{target}").{verb}().iterate()'))
    refused(f"io().{verb}() in bytecode", message(steps(["io", target], [verb]), "bytecode", "traversal"))
fence = {"@type": "g:Class", "@value": "dev.annals.gremlin.server.AnnalsGraphManager$NoFiles"}
without = steps(["io", str(folder / "write.json")], ["write"])
without["@value"]["source"] = [["withoutStrategies", fence]]
refused("io().write() without the strategy", message(without, "bytecode", "traversal"))
expect(not (folder / "write.json").exists(), "no file was written by io()")
cut("while (true) {}", message("while (true) {}"))
endless = steps(["inject", number(1)], ["repeat", steps(["identity"])])
endless_text = "g.inject(1).repeat(__.identity())"
for limit in (0, -1, 3_600_000):
    refused(f"a limit of {limit} ms for a script", message(endless_text, evaluationTimeout=number(limit)))
    refused(f"a limit of {limit} ms for bytecode",
            message(endless, "bytecode", "traversal", evaluationTimeout=number(limit)))
for processor in ({}, {"processor": "session", "session": str(uuid.uuid4())}):
    cut(f"an endless script {processor}", message(endless_text, **processor))
for processor in ({"processor": "traversal"}, {"processor": "session", "session": str(uuid.uuid4())}):
    cut(f"an endless traversal {processor}", message(endless, "bytecode", **processor))
for what, sent in (
        ("a script", message(endless_text)), ("a traversal", message(endless, "bytecode", "traversal")),
        ("a session", message(endless, "bytecode", "session", session=str(uuid.uuid4())))):
    start = time.time()
    asyncio.run(leave(sent))
    expect(is_calm() and time.time() - start < 4.5, f"{what} without its connection")
refused("System.exit(3)", message("System.exit(3)"))
expect(ask(message("g.V().count()")) == 200, "the server still answers")
if failed:
    sys.exit(f"{len(failed)} wrong: {failed}")
print("attacks: all refused")
