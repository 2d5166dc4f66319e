"""Installs the programs that suites need: as root through apt, otherwise it names them."""
import glob
import os
import shutil
import subprocess

from proofs import Failure

# Debian keeps programs of servers away from the others; and a script that exists here lets no package start a server.
SERVERS = "/usr/lib/postgresql/*/bin"
POLICY = "/usr/sbin/policy-rc.d"

# The commands of a program, any of which will do, and the packages of Debian that bring it.
PACKAGES = {
    "cc": (["cc"], ["gcc", "libc6-dev"]),
    "chromium": (["chromium", "chromium-browser", "google-chrome"], ["chromium"]),
    "curl": (["curl"], ["curl"]),
    "dot": (["dot"], ["graphviz"]),
    "etcd": (["etcd"], ["etcd-server"]),
    "faketime": (["faketime"], ["faketime"]),
    "go": (["go"], ["golang-go"]),
    "javac": (["javac"], ["openjdk-17-jdk-headless"]),
    "mvn": (["mvn"], ["maven"]),
    "nginx": (["nginx"], ["nginx-light"]),
    "node": (["node"], ["nodejs"]),
    "npm": (["npm"], ["npm"]),
    "postgres": (["postgres"], ["postgresql"]),
    "strace": (["strace"], ["strace"]),
    "valgrind": (["valgrind"], ["valgrind"]),
    "venv": ([], ["python3-venv"]),
    "wrk": (["wrk"], ["wrk"]),
}


def is_there(name):
    if name == "venv":
        return subprocess.run(["python3", "-c", "import ensurepip, venv"], capture_output=True).returncode == 0
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *glob.glob(SERVERS)])
    return any(shutil.which(command, path=path) for command in PACKAGES[name][0])


def install(names):
    missing = [package for name in sorted(names) if not is_there(name) for package in PACKAGES[name][1]]
    if not missing:
        return
    if os.getuid() != 0 or not shutil.which("apt-get"):
        raise Failure(f"missing: {' '.join(missing)}; install them, on Debian with: sudo apt-get install {' '.join(missing)}")
    if os.path.exists(POLICY):
        return run_apt(missing)
    with open(POLICY, "w") as policy:
        os.chmod(POLICY, 0o755)
        policy.write("#!/bin/sh\nexit 101\n")
    try:
        run_apt(missing)
    finally:
        os.remove(POLICY)


def run_apt(missing):
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["update", "-q"], ["install", "-qy", "--no-install-recommends", *missing]):
        if subprocess.run(["apt-get", *command], env=environment, stdin=subprocess.DEVNULL).returncode:
            raise Failure(f"could not install: {' '.join(missing)}")
