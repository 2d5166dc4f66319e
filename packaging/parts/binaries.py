"""The programs: static ones, built for both machines, or those that are there."""
import glob
import os
import platform
import shlex
import shutil
import subprocess

from source import MACHINES, ROOT, Failure, need, run

# The compiler of C for each machine. The crate of mimalloc has C, and so has ring.
COMPILERS = {"x86-64": "musl-gcc", "arm64": "aarch64-linux-gnu-gcc"}
# Headers of glibc make code for arm64 that only glibc has, unless they are told not to.
FLAGS = {"x86-64": "", "arm64": "-mno-outline-atomics -U_FORTIFY_SOURCE"}
# Rust links for musl by itself. With musl-gcc as linker the program of x86-64 crashes at its start.
LINKERS = {"x86-64": "cc", "arm64": "aarch64-linux-gnu-gcc"}


def build(source, machine):
    """Builds the program, and gives its path."""
    triple = MACHINES[machine][0]
    need("cc", f"cc-{machine}")
    if triple not in run("rustup", "target", "list", "--installed", text=True, cwd=ROOT).split():
        run("rustup", "target", "add", triple, cwd=ROOT)
    run("cargo", "fetch", "--locked", "--target", triple, cwd=ROOT)
    name, upper = triple.replace("-", "_"), triple.replace("-", "_").upper()
    flags = [f"-ffile-prefix-map={path}={shown}" for path, shown in shown_paths(source)]
    environment = dict(os.environ)
    environment.update({
        f"CC_{name}": COMPILERS[machine],
        f"CFLAGS_{name}": " ".join([FLAGS[machine], *flags]).strip(),
        f"CARGO_TARGET_{upper}_LINKER": LINKERS[machine],
        "RUSTC_WRAPPER": os.path.join(ROOT, "packaging", "parts", "rustc"),
        "ANNALS_SHOWN_PATHS": "\n".join(f"{path}={shown}" for path, shown in shown_paths(source)),
    })
    # Flags of this machine would be in the program.
    for name in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"):
        environment.pop(name, None)
    command = ["cargo", "build", "--profile", "dist", "--locked", "-p", "annals-cli", "--bin", "annals", "--target", triple]
    print(f"== {machine}: {shlex.join(command)}", flush=True)
    if subprocess.run(command, cwd=ROOT, env=environment).returncode:
        raise Failure(f"the program for {machine} does not build: see above")
    return os.path.join(source.target, triple, "dist", "annals")


def shown_paths(source):
    """The folders of this machine, and how the program shows them. Shape: `[(path, shown)]`."""
    cargo = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    registries = sorted(glob.glob(os.path.join(cargo, "registry", "src", "*")))
    # Order: the last one that fits counts.
    return [(ROOT, "annals"), (source.target, "target"), *((folder, "crates") for folder in registries)]


def find(folder, machine):
    """The program of a folder that is for this machine, or None."""
    for name in (f"annals-{machine}", "annals"):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and machine_of(path) == machine:
            return path
    return None


def head(path):
    with open(path, "rb") as file:
        return file.read(4_096)


def machine_of(path):
    """The machine that a program is for. Source: the header of ELF, at the offset 18."""
    start = head(path)
    number = int.from_bytes(start[18:20], "little") if start.startswith(b"\x7fELF") else None
    return next((name for name, known in MACHINES.items() if known[4] == number), None)


def is_static(path):
    """True if the program asks for no loader. Source: the program headers of ELF, PT_INTERP."""
    start = head(path)
    first, size, count = (int.from_bytes(start[at:at + length], "little") for at, length in ((32, 8), (54, 2), (56, 2)))
    return all(int.from_bytes(start[first + at * size:first + at * size + 4], "little") != 3 for at in range(count))


def command(path):
    """The words that run a program here, also one for the other machine."""
    machine = machine_of(path)
    if machine == {"x86_64": "x86-64", "aarch64": "arm64"}.get(platform.machine()):
        return [path]
    emulator = {"arm64": "qemu-aarch64-static", "x86-64": "qemu-x86_64-static"}[machine]
    if not shutil.which(emulator):
        need("qemu")
    return [emulator, path]
