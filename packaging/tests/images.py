"""The image under buildah of Debian: it serves, its health check asks it, and it keeps its data in its volume."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from life import PATIENCE, free_port
from made import call


class Image:
    def __init__(self, made):
        self.made = made

    def buildah(self, *arguments):
        # No network, no mounts of layers: the machine of a test may have neither.
        return ["buildah", "--root", f"{self.folder}/root", "--runroot", f"{self.folder}/run", "--storage-driver", "vfs", *arguments]

    def run(self):
        self.folder = tempfile.mkdtemp(prefix="annals-image-")
        tests = (self.it_says_what_it_is, self.it_serves_and_is_healthy)
        try:
            archive = self.made.one(self.made.first, "*-x86-64.oci.tar")
            self.container = call(*self.buildah("from", f"oci-archive:{archive}")).split()[-1]
            for test in tests:
                test()
                print(f"ok {test.__name__}", flush=True)
        finally:
            subprocess.run(self.buildah("rm", "--all"), capture_output=True)
            shutil.rmtree(self.folder, ignore_errors=True)
        return len(tests)

    def it_says_what_it_is(self):
        told = json.loads(call(*self.buildah("inspect", self.container)))["OCIv1"]
        config = told["config"]
        assert (told["architecture"], told["os"], config["User"]) == ("amd64", "linux", "8280:8280"), told
        assert config["Entrypoint"] == ["/usr/bin/annals"] and config["Cmd"][0] == "serve", config

    def in_container(self, *command):
        settings = ["--env", f"ANNALS_SERVER=http://127.0.0.1:{self.port}", "--env", "ANNALS_TOKENS="]
        return self.buildah("run", "--isolation", "chroot", *settings, self.container, "--", *command)

    def it_serves_and_is_healthy(self):
        self.port = free_port()
        check = ["/usr/bin/annals", "health"]
        assert subprocess.run(self.in_container(*check), capture_output=True).returncode != 0, "healthy before it runs"
        listen = f"127.0.0.1:{self.port}"
        serving = subprocess.Popen(self.in_container("/usr/bin/annals", "serve", "--create", "--listen", listen),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            deadline = time.monotonic() + PATIENCE
            while subprocess.run(self.in_container(*check), capture_output=True).returncode:
                assert time.monotonic() < deadline and serving.poll() is None, f"it is not healthy: {serving.poll()}"
                time.sleep(0.2)
            call(*self.in_container("/usr/bin/annals", "create", "host", "h1"))
            assert "h1" in call(*self.in_container("/usr/bin/annals", "get", "h1"))
            assert self.processes(listen), "which process serves?"
        finally:
            for number in self.processes(listen):
                os.kill(number, signal.SIGTERM)
            said, _ = serving.communicate(timeout=PATIENCE)
        assert serving.returncode == 0, said

    def processes(self, listen):
        """The servers that listen there."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if words[0] == "/usr/bin/annals" and listen in words:
                found.append(int(name))
        return found
