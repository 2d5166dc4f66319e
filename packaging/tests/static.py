"""The static programs of a release: both run scenarios of the command line, that of arm64 under qemu."""
import filecmp
import os
import shutil
import stat

from made import RELEASE, call

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# How many of the scenarios each program runs: one of so many. An emulated one takes longer.
PARTS = {"x86-64": "0/4", "arm64": "0/16"}


def programs(folder):
    """Builds both programs. This takes long."""
    release = os.path.join(folder, "programs")
    print(call(RELEASE, release, "--only", "programs"), end="")
    another_folder_makes_the_same(folder, os.path.join(release, "annals-x86-64"))
    return release


def another_folder_makes_the_same(folder, program):
    """Builds the program for x86-64 again, from a clone elsewhere, and compares every byte."""
    clone, made = os.path.join(folder, "clone"), os.path.join(folder, "again")
    call("git", "clone", "--quiet", ROOT, clone)
    environment = dict(os.environ, CARGO_TARGET_DIR=os.path.join(folder, "target"))
    call(os.path.join(clone, "packaging", "release"), made, "--only", "programs", "--machine", "x86-64", env=environment)
    assert filecmp.cmp(program, os.path.join(made, "annals-x86-64"), shallow=False), "two builds differ"
    shutil.rmtree(environment["CARGO_TARGET_DIR"])
    print("ok another_folder_makes_the_same", flush=True)


def run(folder):
    # The comparison of two builds.
    done = 1
    for machine, part in PARTS.items():
        program = os.path.join(folder, f"annals-{machine}")
        for test in (is_static, has_no_path_of_this_machine, lambda path: runs_scenarios(path, part)):
            test(program)
            done += 1
        print(f"ok the program for {machine}", flush=True)
    return done


def is_static(program):
    told = call("file", program)
    assert "static" in told and "interpreter" not in told, told
    assert call(runner(program), "--version").startswith("annals ")


def has_no_path_of_this_machine(program):
    with open(program, "rb") as file:
        whole = file.read()
    for path in (ROOT, os.path.expanduser("~/.cargo"), "/rustc/../"):
        assert path.encode() not in whole, f"{program} has the path {path}"


def runner(program):
    """The program, or a script that runs it under qemu."""
    if not program.endswith("arm64"):
        return program
    script = program + ".sh"
    with open(script, "w") as file:
        file.write(f'#!/bin/sh\nexec qemu-aarch64-static "{program}" "$@"\n')
    os.chmod(script, stat.S_IRWXU)
    return script


def runs_scenarios(program, part):
    command = ["cargo", "test", "--locked", "--workspace", "--test", "scenarios", "through_the_command_line"]
    call(*command, cwd=ROOT, env=dict(os.environ, ANNALS_PROGRAM=runner(program), ANNALS_PART=part))
