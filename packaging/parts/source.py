"""The source of a release: its version, its time, and the programs that make packages."""
import hashlib
import os
import subprocess
import sys
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# How others call each machine. Shape: triple of Rust, architecture of Debian, of RPM, of images, number in ELF.
MACHINES = {
    "x86-64": ("x86_64-unknown-linux-musl", "amd64", "x86_64", "amd64", 62),
    "arm64": ("aarch64-unknown-linux-musl", "arm64", "aarch64", "arm64", 183),
}
MAINTAINER = "The Annals developers <annals@annals.invalid>"
SUMMARY = "graph repository with a complete history"
DESCRIPTION = """\
Annals stores typed entities, relationships and classifications, keeps every
version of each of them, and answers every query as of any time. It is a
command line and a server, for catalogues of metadata, digital libraries and
configurations.
"""


class Failure(Exception):
    """Ends the release with a sentence."""


def run(*command, **options):
    """The standard output of a command that must succeed."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, **options)
    except FileNotFoundError:
        raise Failure(f"missing: {command[0]}; install it") from None
    if done.returncode:
        raise Failure(f"failed with {done.returncode}: {' '.join(command)}")
    return done.stdout


def need(*names):
    """Installs programs, by the names of .ci/install.py."""
    sys.path.insert(0, os.path.join(ROOT, ".ci"))
    import install
    import proofs
    try:
        install.install(names)
    except proofs.Failure as failure:
        raise Failure(failure) from None


class Source:
    """The commit that is released."""

    def __init__(self, revision, is_fast, is_clean):
        with open(os.path.join(ROOT, "Cargo.toml"), "rb") as file:
            self.version = tomllib.load(file)["workspace"]["package"]["version"]
        self.revision = revision
        # How much everything is pressed, from 1 to 9.
        self.pressing = 1 if is_fast else 9
        if is_clean and run("git", "status", "--porcelain", cwd=ROOT):
            raise Failure("expected a clean clone, found changes that no commit has; commit them, or take a new clone")
        # Units: seconds since 1970.
        self.time = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT))
        os.environ["SOURCE_DATE_EPOCH"] = str(self.time)

    @property
    def target(self):
        return os.path.abspath(os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target"))


def sums(folder):
    """Writes SHA256SUMS of all files."""
    lines = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n")
    with open(os.path.join(folder, "SHA256SUMS"), "w") as file:
        file.writelines(lines)
    print("".join(lines), end="")
