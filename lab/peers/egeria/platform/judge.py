"""Follows the commands of docs/egeria.md on a platform of Egeria, and checks what they leave: judge.py PAGE ANNALS. `judge` calls it
in the folder of the platform. Each check says what it expected and what it found. Everything that it starts, it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

# The whole, with slow disks and busy cores.
WHOLE_SECONDS = 300
WALK_SECONDS = 150
CALL_SECONDS = 60
START_SECONDS = 90
ARRIVAL_SECONDS = 30
# A port of the page, which a free one replaces.
PAGE_PORT = "9443"
TERM = "0db3e6ec-f5ef-4d75-ae38-b7ee6fd6ec0a"
TOPIC = "annals.lab.egeria.ProcessTopic$Provider"
PROVIDER = "dev.annals.egeria.AnnalsRepositoryConnectorProvider"

checks = 0


def expect(what, expected, found):
    global checks
    checks += 1
    if expected != found:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}; the platform wrote {os.getcwd()}/platform.log")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def alive(process_id):
    """True also for a process that ended and that nobody waited for, so a caller looks at the port as well."""
    try:
        os.kill(process_id, 0)
        return True
    except ProcessLookupError:
        return False


class Platform:
    def __init__(self):
        self.port = free_port()
        self.root = f"http://127.0.0.1:{self.port}"

    def call(self, path, body=None, method=None):
        """The answer of Egeria, which has status 200 also for refusals and names another one in `relatedHTTPCode`."""
        data = None if body is None else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=CALL_SECONDS) as answer:
            return json.load(answer)

    def succeed(self, path, body=None, method=None):
        answer = self.call(path, body, method)
        expect(f"{method or ''} {path}: {answer.get('exceptionErrorMessage')}", 200, answer["relatedHTTPCode"])
        return answer

    def kill(self):
        """Ends the process at once, as kill -9 does, and waits until its port is free."""
        process_id = int(open("platform.pid").read())
        os.kill(process_id, signal.SIGKILL)
        end = time.monotonic() + 10
        while alive(process_id) and time.monotonic() < end:
            try:
                os.waitpid(process_id, os.WNOHANG)
            except ChildProcessError:
                pass
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)):
                    break
            time.sleep(0.05)

    def start(self):
        with open("platform.log", "a") as log:
            process = subprocess.Popen(["java", "-Dloader.path=connector", "-jar", "platform.jar", "--server.address=127.0.0.1",
                f"--server.port={self.port}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        with open("platform.pid", "w") as file:
            file.write(str(process.pid))
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                with urllib.request.urlopen(self.root + "/open-metadata/platform-services/users/admin/server-platform/origin", timeout=5):
                    return
            except OSError as error:
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"expected the platform to start within {START_SECONDS} s, found {error}; see {os.getcwd()}/platform.log")
                time.sleep(0.2)


def text(value):
    return {"class": "PrimitivePropertyValue", "instancePropertyCategory": "PRIMITIVE",
        "primitiveDefCategory": "OM_PRIMITIVE_TYPE_STRING", "primitiveValue": value}


def properties(**values):
    return {"class": "InstanceProperties", "instanceProperties": {name: text(value) for name, value in values.items()}}


def value(instance, name):
    return instance["properties"]["instanceProperties"][name]["primitiveValue"]


class Server:
    def __init__(self, platform, name):
        self.platform = platform
        self.name = name
        self.admin = f"/open-metadata/admin-services/users/admin/servers/{name}"
        self.services = f"/servers/{name}/open-metadata/repository-services/users/erin"
        self.document = None

    def read_document(self):
        document = self.platform.succeed(f"{self.admin}/configuration")["omagserverConfig"]
        self.collection = document["repositoryServicesConfig"]["localRepositoryConfig"]["metadataCollectionId"]
        return document

    def activate(self):
        return self.platform.succeed(f"{self.admin}/instance", method="POST")

    def instances(self, path, body=None, field="entity"):
        return self.platform.succeed(f"{self.services}/instances/{path}", body).get(field)

    def add(self, name):
        return self.instances("entity", {"class": "EntityCreateRequest", "entityTypeGUID": TERM, "initialStatus": "ACTIVE",
            "initialProperties": properties(displayName=name)})

    def get(self, kind, guid):
        """The instance, or none if it is unknown or deleted."""
        answer = self.platform.call(f"{self.services}/instances/{kind}/{guid}")
        if answer["relatedHTTPCode"] not in (200, 404):
            expect(f"{self.name}: {kind} {guid}: {answer.get('exceptionErrorMessage')}", 200, answer["relatedHTTPCode"])
        return answer.get(kind)

    def find(self, text_):
        found = self.instances(f"entities/by-property-value?searchCriteria={text_}",
            {"class": "EntityPropertyFindRequest", "typeGUID": TERM}, "entities") or []
        return [(value(one, "displayName"), one["metadataCollectionId"]) for one in found]

    def wait(self, kind, guid, what, condition):
        """Waits until the event of another member has come."""
        end = time.monotonic() + ARRIVAL_SECONDS
        while not condition(found := self.get(kind, guid)):
            if time.monotonic() > end:
                expect(f"{self.name}: {kind} {guid} within {ARRIVAL_SECONDS} s", what, found)
            time.sleep(0.1)
        expect(what, True, True)
        return found


def same(instance):
    """What a copy has in common with the instance at its home. `replicatedBy` and the like are of the copy alone."""
    names = ("guid", "metadataCollectionId", "metadataCollectionName", "createdBy", "createTime", "version", "status", "properties")
    return {name: instance.get(name) for name in names} | {"type": instance["type"]["typeDefName"]}


def walk(page, port):
    """Runs the commands of the page: its blocks of `sh`. The page installs in a folder, where this program runs already."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", open(page).read(), re.M | re.S)
    expect("blocks of commands in " + page, 6, len(blocks))
    script = "\n".join(blocks).replace("cd target/omag\n", "").replace(PAGE_PORT, str(port))
    answers = subprocess.run(["bash", "-euc", script], timeout=WALK_SECONDS, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE)
    expect(f"exit code of the commands, which answered\n{answers.stdout}\n", 0, answers.returncode)
    codes = re.findall(r'"relatedHTTPCode":(\d+)', answers.stdout)
    expect(f"statuses of the answers\n{answers.stdout}\n", ["200"] * 21, codes)
    versions = re.search(r'"class":"EntityListResponse".*?"version":2.*?"primitiveValue":"client".*?"version":1.*?"primitiveValue":"customer"', answers.stdout)
    expect("both versions in the history of the term", True, versions is not None)


def look_at_documents(one, two):
    for server in (one, two):
        document = server.document = server.read_document()
        repository = document["repositoryServicesConfig"]["localRepositoryConfig"]
        connection = repository["localRepositoryLocalConnection"]
        expect("mode of the repository", "PLUGIN_REPOSITORY", repository["localRepositoryMode"])
        expect("provider of the repository", PROVIDER, connection["connectorType"]["connectorProviderClassName"])
        expect("properties of the repository", {"folder": f"repositories/{server.name}"}, connection["configurationProperties"])
        cohorts = [cohort["cohortName"] for cohort in document["repositoryServicesConfig"]["cohortConfigList"]]
        expect("cohorts of " + server.name, ["annals"], cohorts)
        running = server.platform.succeed(f"{server.admin}/instance/configuration")["omagserverConfig"]
        expect("document that runs", repository, running["repositoryServicesConfig"]["localRepositoryConfig"])
    expect("the term of the first section", [("client", one.collection)], one.find("client"))
    end = time.monotonic() + ARRIVAL_SECONDS
    while not (found := one.find("supplier")) and time.monotonic() < end:
        time.sleep(0.1)
    expect("the copy of the second section", [("supplier", two.collection)], found)


def address_of(served):
    """The address that `annals serve` prints before it is ready."""
    address = None
    for line in served.stdout:
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        address = address or (found and found.group())
        if address and "at position" in line:
            return address
    sys.exit("expected an address of annals serve, found its end")


def add_server(platform, address):
    """A third member of the cohort, which keeps its metadata in a server of Annals."""
    three = Server(platform, "three")
    platform.succeed(f"{three.admin}/server-url-root?url={platform.root}", method="POST")
    platform.succeed(f"{three.admin}/local-repository/mode/plugin-repository/connection", {"class": "Connection",
        "connectorType": {"class": "ConnectorType", "connectorProviderClassName": PROVIDER},
        "configurationProperties": {"address": address}})
    platform.succeed(f"{three.admin}/event-bus?connectorProvider={TOPIC}&topicURLRoot=walk", method="POST")
    platform.succeed(f"{three.admin}/cohorts/annals", method="POST")
    three.activate()
    three.document = three.read_document()
    return three


def members_know_each_other(servers):
    end = time.monotonic() + ARRIVAL_SECONDS
    for server in servers:
        others = sorted(other.name for other in servers if other != server)
        while True:
            members = server.platform.succeed(f"{server.services}/metadata-highway/cohorts/annals/remote-members")
            found = sorted(member["serverName"] for member in members.get("cohortMembers") or [])
            if found == others or time.monotonic() > end:
                break
            time.sleep(0.1)
        expect("other members of the cohort that " + server.name + " knows", others, found)


def exchange(home, other, synonym):
    """Every kind of write at one member reaches the other one. Returns what stays."""
    term, second = home.add("a"), home.add("b")
    expect("home of a new entity", home.collection, term["metadataCollectionId"])
    copy = other.wait("entity", term["guid"], "a copy", lambda found: found)
    expect("the copy", same(term), same(copy))
    refused = other.platform.call(f"{other.services}/instances/entity/{term['guid']}/properties",
        {"class": "InstancePropertiesRequest", "instanceProperties": properties(displayName="no")})
    expect("an update of a copy", "InvalidParameterException", refused.get("exceptionClassName", "none").split(".")[-1])

    link = home.instances("relationship", {"class": "RelationshipCreateRequest", "relationshipTypeGUID": synonym, "initialStatus": "ACTIVE",
        "entityOneGUID": term["guid"], "entityTwoGUID": second["guid"], "initialProperties": properties(description="c")}, "relationship")
    copy = other.wait("relationship", link["guid"], "a copy", lambda found: found)
    expect("the copy of a relationship", same(link), same(copy))
    ends = [(one[end]["guid"], one[end]["metadataCollectionId"]) for one in (link, copy) for end in ("entityOneProxy", "entityTwoProxy")]
    expect("its ends", 2 * [(term["guid"], home.collection), (second["guid"], home.collection)], ends)

    home.instances(f"entity/{term['guid']}/classification/SpineObject", {"class": "InstancePropertiesRequest"})
    copy = other.wait("entity", term["guid"], "a classification", lambda found: found and found.get("classifications"))
    expect("the classification of the copy", [("SpineObject", home.collection)],
        [(one["name"], one["metadataCollectionId"]) for one in copy["classifications"]])
    other.instances(f"entity/{second['guid']}/classification/SpineAttribute", {"class": "InstancePropertiesRequest"})
    classified = home.wait("entity", second["guid"], "a classification by the other member", lambda found: found and found.get("classifications"))
    expect("the home of that classification", [("SpineAttribute", other.collection)],
        [(one["name"], one["metadataCollectionId"]) for one in classified["classifications"]])

    updated = home.instances(f"entity/{term['guid']}/properties",
        {"class": "InstancePropertiesRequest", "instanceProperties": properties(displayName="d")})
    copy = other.wait("entity", term["guid"], "the update", lambda found: found and value(found, "displayName") == "d")
    expect("the updated copy", same(updated), same(copy))
    link = home.instances(f"relationship/{link['guid']}/properties",
        {"class": "InstancePropertiesRequest", "instanceProperties": properties(description="e")}, "relationship")
    other.wait("relationship", link["guid"], "the update", lambda found: found and value(found, "description") == "e")
    home.instances(f"entity/{term['guid']}/classification/SpineObject/delete", {"class": "OMRSAPIRequest"})
    other.wait("entity", term["guid"], "no classification", lambda found: found and not found.get("classifications"))

    gone = home.add("f")
    gone_link = home.instances("relationship", {"class": "RelationshipCreateRequest", "relationshipTypeGUID": synonym,
        "initialStatus": "ACTIVE", "entityOneGUID": second["guid"], "entityTwoGUID": gone["guid"]}, "relationship")
    other.wait("relationship", gone_link["guid"], "a copy", lambda found: found)
    home.instances(f"relationship/{gone_link['guid']}/delete",
        {"class": "TypeDefValidationForRequest", "typeDefGUID": synonym, "typeDefName": "Synonym"}, "relationship")
    home.instances(f"entity/{gone['guid']}/delete",
        {"class": "TypeDefValidationForRequest", "typeDefGUID": TERM, "typeDefName": "GlossaryTerm"})
    for kind, guid in (("relationship", gone_link["guid"]), ("entity", gone["guid"])):
        expect(f"a deleted {kind} at its home", None, home.get(kind, guid))
        other.wait(kind, guid, "a deleted copy", lambda found: not found)
    stays = (("entity", term["guid"]), ("entity", second["guid"]), ("relationship", link["guid"]))
    return [(server, kind, guid, server.get(kind, guid)) for server in (home, other) for kind, guid in stays] + \
        [(home, "entity", gone["guid"], None), (home, "relationship", gone_link["guid"], None)]


def write_until_killed(servers, platform):
    """Writes at all servers, kills the platform between, and returns the instances that were acknowledged."""
    acknowledged = []

    def write(server):
        try:
            for number in range(100_000):
                acknowledged.append((server, server.add(f"g{number}")))
        except (OSError, ValueError):
            pass  # The platform is gone, or its answer is torn.

    writers = [threading.Thread(target=write, args=(server,)) for server in servers]
    for writer in writers:
        writer.start()
    time.sleep(2)
    platform.kill()
    for writer in writers:
        writer.join()
    for server in servers:
        expect(f"writes at {server.name} before the kill", True, any(one == server for one, _ in acknowledged))
    return [(server, "entity", entity["guid"], entity) for server, entity in acknowledged]


def come_back(servers, platform, instances):
    platform.start()
    for server in servers:
        document = server.read_document()
        expect(f"the document of {server.name} after kill -9", server.document, document)
        server.activate()
    for server, kind, guid, instance in instances:
        expect(f"{kind} {guid} of {server.name} after kill -9", instance, server.get(kind, guid))


def stop(number, _frame):
    sys.exit(f"expected an end within {WHOLE_SECONDS} s, found signal {number} after {checks} checks")


def judge(page, program):
    signal.signal(signal.SIGALRM, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.alarm(WHOLE_SECONDS)
    start = time.monotonic()
    platform, served = Platform(), None
    if os.path.exists("platform.pid"):
        os.remove("platform.pid")
    try:
        walk(page, platform.port)
        one, two = Server(platform, "one"), Server(platform, "two")
        look_at_documents(one, two)
        served = subprocess.Popen([program, "serve", "repositories/three", "--create", "--listen", "127.0.0.1:0", "--log", "off"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        three = add_server(platform, address_of(served))
        servers = [one, two, three]
        members_know_each_other(servers)
        synonym = platform.succeed(f"{one.services}/types/typedef/name/Synonym")["typeDef"]["guid"]
        stays = []
        for home, other in ((one, two), (two, one), (one, three), (three, two)):
            stays += exchange(home, other, synonym)
        written = write_until_killed(servers, platform)
        come_back(servers, platform, stays + written)
        members_know_each_other(servers)
        exchange(two, one, synonym)
        exchange(one, three, synonym)
    finally:
        if os.path.exists("platform.pid") and alive(int(open("platform.pid").read())):
            platform.kill()
        if served:
            served.terminate()
            served.wait(20)
    print(f"{checks} passed, 0 failed")
    print(f"{checks} checks hold, among them {len(written)} writes that kill -9 followed; {time.monotonic() - start:.0f} s")


judge(*sys.argv[1:])
