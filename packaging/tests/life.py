"""The life of the .deb in a fresh root of Debian: installed, configured, started, loaded, upgraded, removed, and installed again."""
import json
import os
import resource
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

from made import call

HERE = os.path.dirname(os.path.abspath(__file__))
ENTITIES = 300
# Longest time until a server is ready. Units: seconds.
PATIENCE = 60
UNIT = "annals.service"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fresh_root(cache):
    """A root with the essential packages of this release of Debian, as a tar that is made once."""
    # The end of the name tells mmdebstrap to make a tar.
    path, new = os.path.join(cache, "root.tar"), os.path.join(cache, "new-root.tar")
    if not os.path.exists(path):
        with open("/etc/os-release") as file:
            told = dict(line.strip().split("=", 1) for line in file if "=" in line)
        sources = [os.path.join(above, name) for above, _, names in os.walk("/etc/apt") for name in names
                   if name == "sources.list" or name.startswith("debian") and name.endswith((".list", ".sources"))]
        call("mmdebstrap", "--variant=essential", "--include=adduser,passwd", told["VERSION_CODENAME"], new, *sources)
        os.rename(new, path)
    return path


class Life:
    def __init__(self, made, cache):
        self.made, self.cache, self.port = made, cache, free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def chroot(self, *command, code=0, text=None):
        """The output of a command in the root."""
        done = subprocess.run(["chroot", self.root, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, input=text)
        assert done.returncode == code, f"{' '.join(command)}: expected {code}, found {done.returncode}\n{done.stdout}\n{self.log()}"
        return done.stdout

    def annals(self, *arguments, text=None):
        """A command as the user of the package."""
        return self.chroot("setpriv", "--reuid", "annals", "--regid", "annals", "--clear-groups", "annals", *arguments, text=text)

    def path(self, name):
        return os.path.join(self.root, name.lstrip("/"))

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def log(self):
        return self.read("/run/annals.log") if os.path.exists(self.path("/run/annals.log")) else ""

    def install(self, folder):
        package = self.made.one(folder, "*_amd64.deb")
        shutil.copy(package, self.path("/tmp/annals.deb"))
        return self.chroot("dpkg", "-i", "/tmp/annals.deb")

    def process(self):
        """The server of the root, if it runs."""
        try:
            number = int(self.read("/run/annals.process"))
            with open(f"/proc/{number}/stat") as file:
                return None if file.read().rsplit(")", 1)[1].split()[0] == "Z" else number
        except FileNotFoundError:
            return None

    def wait_until_ready(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            done = subprocess.run(["chroot", self.root, "annals", "health", self.url, "--ready"], capture_output=True, text=True)
            if done.returncode == 0:
                return
            time.sleep(0.1)
        raise AssertionError(f"the server does not become ready: {done.stderr}\n{self.log()}")

    def count(self):
        with urllib.request.urlopen(f"{self.url}/v1/stats") as answer:
            told = json.load(answer)
        return told["entities"]["total"], told["relationships"]["total"]

    def run(self):
        self.root = tempfile.mkdtemp(prefix="annals-root-")
        os.chmod(self.root, 0o755)
        mounted = self.path("/proc")
        tests = (self.an_installation_starts_nothing, self.the_doctor_says_what_is_missing, self.the_unit_starts_the_server,
                 self.an_upgrade_restarts_the_server_and_keeps_all, self.a_removal_stops_the_server_and_keeps_the_data,
                 self.another_installation_finds_the_data, self.a_purge_keeps_the_data_and_says_so)
        try:
            call("tar", "-xf", fresh_root(self.cache), "-C", self.root)
            call("mount", "-t", "proc", "proc", mounted)
            os.makedirs(self.path("/run/systemd/system"))
            shutil.copy(os.path.join(HERE, "systemctl"), self.path("/usr/bin/systemctl"))
            for test in tests:
                test()
                print(f"ok {test.__name__}", flush=True)
        finally:
            if self.process():
                os.kill(self.process(), 9)
            # Also while a process that ends still has a file there: no removal may reach into it.
            subprocess.run(["umount", "--lazy", mounted], check=False, capture_output=True)
            if not os.path.ismount(mounted):
                shutil.rmtree(self.root, ignore_errors=True)
        return len(tests)

    def an_installation_starts_nothing(self):
        self.install(self.made.first)
        assert self.read("/run/calls") == "--system daemon-reload\n" and not self.process()
        known = os.stat(self.path("/var/lib/annals"))
        user = self.chroot("id", "-u", "annals").strip()
        assert (str(known.st_uid), known.st_mode & 0o7777) == (user, 0o750) and not os.listdir(self.path("/var/lib/annals"))
        assert self.chroot("annals", "--version").startswith("annals ")
        assert not os.path.exists(self.path(f"/etc/systemd/system/multi-user.target.wants/{UNIT}"))
        self.systemd_takes_the_unit()

    def systemd_takes_the_unit(self):
        """Its own tool finds nothing wrong, and that the server may do little. Units: tenths of its marks, of which 100 is anything."""
        path = self.path(f"/tmp/{UNIT}")
        with open(path, "w") as file:
            file.write(self.read(f"/usr/lib/systemd/system/{UNIT}").replace("/usr/bin/annals", self.path("/usr/bin/annals")))
        said = call("systemd-analyze", "verify", path)
        assert UNIT not in said, said
        call("systemd-analyze", "security", "--offline=true", "--threshold=20", path)

    def the_doctor_says_what_is_missing(self):
        path = self.path("/etc/annals/annals.toml")
        with open(path, "w") as file:
            file.write(f'repository = "/var/lib/annals"\nlisten = "127.0.0.1:{self.port}"\nmemory = "256MiB"\n')
        said = self.chroot("annals", "doctor", "--config", "/etc/annals/annals.toml", code=1)
        assert "create it once" in said and "wrong    repository" in said, said
        # The server says the same, and makes none.
        self.chroot("annals", "serve", "--config", "/etc/annals/annals.toml", code=3)
        self.annals("-r", "/var/lib/annals", "apply", "-", text="[]")
        said = self.chroot("annals", "doctor", "--config", "/etc/annals/annals.toml")
        for line in ("ok       unit", "ok       rights", "ok       log", "ok       port", "ok       memory"):
            assert line in said, said

    def the_unit_starts_the_server(self):
        self.chroot("systemctl", "start", UNIT)
        self.wait_until_ready()
        told = self.status()
        user = self.chroot("id", "-u", "annals").strip()
        assert told["Uid"].split() == [user] * 4 and told["NoNewPrivs"] == "1" and told["CapBnd"] == "0000000000000000", told
        assert told["Umask"] == "0077", told
        may_raise = subprocess.run(["prlimit", "--nofile=32768", "true"], capture_output=True).returncode == 0
        files = "32768" if may_raise else str(resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        with open(f"/proc/{self.process()}/limits") as file:
            assert any(line.split()[:5] == ["Max", "open", "files", files, files] for line in file)
        lines = [json.dumps({"entity": {"id": f"host-{number}", "type": "host"}}) for number in range(ENTITIES)]
        lines += [json.dumps({"relationship": {"type": "next", "from": f"host-{number}", "to": f"host-{number + 1}"}})
                  for number in range(ENTITIES - 1)]
        with open(self.path("/tmp/hosts.jsonl"), "w") as file:
            file.write("\n".join(lines) + "\n")
        # Beside the server, which has the folder: the command asks it.
        self.annals("-r", "/var/lib/annals", "import", "/tmp/hosts.jsonl")
        assert self.count() == (ENTITIES, ENTITIES - 1), self.count()
        said = self.chroot("setpriv", "--reuid", "annals", "--regid", "annals", "--clear-groups", "annals", "doctor", "--config",
                           "/etc/annals/annals.toml")
        assert "the server listens at" in said and " runs annals " in said, said

    def status(self):
        with open(f"/proc/{self.process()}/status") as file:
            return {name: value.strip() for name, value in (line.split(":", 1) for line in file)}

    def an_upgrade_restarts_the_server_and_keeps_all(self):
        before = self.process()
        configuration = self.read("/etc/annals/annals.toml")
        folder = self.made.make("higher", "--revision", "2", "--only", "deb")
        self.install(folder)
        assert self.process() and self.process() != before, "it goes on with the old program"
        self.wait_until_ready()
        assert self.count() == (ENTITIES, ENTITIES - 1)
        assert self.read("/etc/annals/annals.toml") == configuration
        assert self.chroot("dpkg-query", "-W", "-f", "${Version}", "annals").endswith("-2")

    def a_removal_stops_the_server_and_keeps_the_data(self):
        self.chroot("dpkg", "-r", "annals")
        assert not self.process() and not os.path.exists(self.path("/usr/bin/annals"))
        assert os.path.exists(self.path("/etc/annals/annals.toml")) and os.listdir(self.path("/var/lib/annals/log"))

    def another_installation_finds_the_data(self):
        self.install(self.made.first)
        assert not self.process(), "nothing starts by itself"
        self.chroot("systemctl", "start", UNIT)
        self.wait_until_ready()
        assert self.count() == (ENTITIES, ENTITIES - 1)
        self.chroot("systemctl", "stop", UNIT)

    def a_purge_keeps_the_data_and_says_so(self):
        shutil.copy(self.path("/usr/bin/annals"), self.path("/tmp/annals"))
        said = self.chroot("dpkg", "-P", "annals")
        assert "the repository stays in /var/lib/annals" in said, said
        assert not os.path.exists(self.path("/etc/annals/annals.toml"))
        checked = self.chroot("/tmp/annals", "-r", "/var/lib/annals", "check")
        assert f"{ENTITIES} entities" in checked and "all is well" in checked, checked
