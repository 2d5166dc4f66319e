"""Makes packages twice, and looks at them from outside."""
import filecmp
import glob
import hashlib
import os
import shutil
import subprocess

RELEASE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "release")


def call(*command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}"
    return done.stdout


class Made:
    """The packages of the programs in a folder."""

    def __init__(self, programs, folder, is_fast):
        self.programs, self.folder, self.fast = programs, folder, ["--fast"] if is_fast else []
        self.first = self.make("first")

    def make(self, name, *options):
        folder = os.path.join(self.folder, name)
        # Neither the umask nor the folder of the caller are in a package.
        umask = 0o077 if name == "second" else 0o022
        call(RELEASE, folder, "--binaries", self.programs, *self.fast, *options, cwd=self.folder, umask=umask)
        return folder

    def one(self, folder, pattern):
        found = glob.glob(os.path.join(folder, pattern))
        assert len(found) == 1, f"{pattern}: expected one file in {folder}, found {found}"
        return found[0]

    def run(self):
        tests = (self.two_builds_are_equal, self.sums_are_those_of_the_files, self.lintian_finds_no_error, self.archive_has_the_program,
                 self.rpm_has_the_files_of_the_deb, self.crates_are_listed, self.bad_arguments_are_named)
        for test in tests:
            test()
            print(f"ok {test.__name__}", flush=True)
        return len(tests)

    def two_builds_are_equal(self):
        second = self.make("second")
        names = sorted(os.listdir(self.first))
        assert names == sorted(os.listdir(second)) and len(names) > 4, names
        _, different, failed = filecmp.cmpfiles(self.first, second, names, shallow=False)
        assert not different and not failed, f"differ: {different + failed}"
        shutil.rmtree(second)

    def sums_are_those_of_the_files(self):
        with open(os.path.join(self.first, "SHA256SUMS")) as file:
            lines = [line.split() for line in file]
        assert {name for _, name in lines} | {"SHA256SUMS"} == set(os.listdir(self.first))
        for known, name in lines:
            with open(os.path.join(self.first, name), "rb") as file:
                assert hashlib.file_digest(file, "sha256").hexdigest() == known, name

    def lintian_finds_no_error(self):
        for path in glob.glob(os.path.join(self.first, "*.deb")):
            print(call("lintian", "--fail-on", "error", "--tag-display-limit", "0", path), end="")

    def archive_has_the_program(self):
        for path in glob.glob(os.path.join(self.first, "*.tar.gz")):
            names = call("tar", "-tzf", path)
            for name in ("/annals\n", "/man1/annals-find.1.gz\n", "/packaging/annals.service\n", "/completions/_annals\n", "/LICENSE-MIT\n"):
                assert name in names, f"{path} lacks {name}"

    def rpm_has_the_files_of_the_deb(self):
        for path in glob.glob(os.path.join(self.first, "*.rpm")):
            told = call("rpm", "-qp", "--nosignature", "--queryformat", "[%{FILENAMES} %{FILEDIGESTS}\n]", path)
            rpm = dict(line.split() for line in told.splitlines() if len(line.split()) == 2)
            machine = {"x86_64": "amd64", "aarch64": "arm64"}[path.rsplit(".", 2)[1]]
            root = os.path.join(self.folder, "laid")
            call("dpkg-deb", "-x", self.one(self.first, f"*_{machine}.deb"), root)
            for name in ("/usr/bin/annals", "/etc/annals/annals.toml", "/usr/lib/systemd/system/annals.service", "/usr/share/man/man1/annals.1.gz"):
                with open(root + name, "rb") as file:
                    assert hashlib.file_digest(file, "sha256").hexdigest() == rpm.get(name), f"{path}: {name}"
            shutil.rmtree(root)
            assert "/etc/annals/annals.toml" in call("rpm", "-qpc", "--nosignature", path)
            scripts = call("rpm", "-qp", "--nosignature", "--scripts", path)
            assert "useradd --system" in scripts and "try-restart" in scripts, scripts

    def crates_are_listed(self):
        with open(self.one(self.first, "*.cdx.json")) as file:
            listed = file.read()
        assert '"pkg:cargo/tokio@' in listed and '"pkg:cargo/annals@' in listed

    def bad_arguments_are_named(self):
        for arguments, text in ((["--only", "dmg"], "found dmg"), (["--machine", "vax"], "found vax"), (["--binaries", "/etc"], "found none of them")):
            done = subprocess.run([RELEASE, os.path.join(self.folder, "bad"), "--binaries", self.programs, *arguments], capture_output=True, text=True)
            assert done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr, done
        done = subprocess.run([RELEASE, self.first, "--binaries", self.programs], capture_output=True, text=True)
        assert done.returncode == 1 and "expected an empty folder" in done.stderr, done
