"""The files that all packages have: program, unit, configuration, examples, pages of the manual, completions."""
import gzip
import os
import shutil

import binaries
from source import ROOT, Failure, run

CONFIGURATION = "/etc/annals/annals.toml"
# Examples and pages to read. Shape: file of the source, name in the folder of documents.
DOCUMENTS = {
    "packaging/nginx.conf": "examples/nginx.conf",
    "packaging/nginx-servers.conf": "examples/nginx-servers.conf",
    "packaging/alerts.yml": "examples/alerts.yml",
    "docs/operations.md": "operations.md",
    "docs/security.md": "security.md",
    "README.md": "README.md",
    "LICENSE-MIT": "LICENSE-MIT",
    "LICENSE-APACHE": "LICENSE-APACHE",
}


def read(name):
    with open(os.path.join(ROOT, name), "rb") as file:
        return file.read()


def pressed(data):
    """With gzip, without time and name."""
    return gzip.compress(data, 9, mtime=0)


class Contents:
    """The program of one machine, and what belongs to it."""

    def __init__(self, source, machine, program, folder):
        self.source, self.machine, self.program = source, machine, program
        self.is_static = binaries.is_static(program)
        self.pages = os.path.join(folder, "pages")
        os.makedirs(folder, exist_ok=True)
        run(*binaries.command(program), "man", self.pages)
        told = run(*binaries.command(program), "--version", text=True).split()
        if told != ["annals", source.version]:
            raise Failure(f"{program}: expected annals {source.version}, as Cargo.toml has it, found {' '.join(told)}")

    def copy_program(self, path):
        shutil.copyfile(self.program, path)
        os.chmod(path, 0o755)

    def made(self, name):
        with open(os.path.join(self.pages, name), "rb") as file:
            return file.read()

    def pages_of_manual(self):
        return sorted(os.listdir(os.path.join(self.pages, "man1")))

    def files(self, documents, zsh):
        """All files of a package. Shape: `{path: (mode, bytes)}`; of the program the path of its file instead of bytes."""
        unit = read("packaging/annals.service").replace(b"/usr/local/bin/annals", b"/usr/bin/annals")
        files = {
            "/usr/bin/annals": (0o755, self.program),
            "/usr/lib/systemd/system/annals.service": (0o644, unit),
            CONFIGURATION: (0o644, read("packaging/annals.toml")),
            "/usr/share/bash-completion/completions/annals": (0o644, self.made("completions/annals.bash")),
            f"{zsh}/_annals": (0o644, self.made("completions/_annals")),
            "/usr/share/fish/vendor_completions.d/annals.fish": (0o644, self.made("completions/annals.fish")),
            f"{documents}/changelog.gz": (0o644, pressed(read("CHANGELOG.md"))),
        }
        for page in self.pages_of_manual():
            files[f"/usr/share/man/man1/{page}.gz"] = (0o644, pressed(self.made(f"man1/{page}")))
        files.update({f"{documents}/{name}": (0o644, read(path)) for path, name in DOCUMENTS.items()})
        return files

    def lay(self, files, folder):
        """Writes files below a folder, with the time of the commit, whatever the umask is."""
        for path, (mode, data) in sorted(files.items()):
            target = folder + path
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if isinstance(data, str):
                shutil.copyfile(data, target)
            else:
                with open(target, "wb") as file:
                    file.write(data)
            os.chmod(target, mode)
        for above, _, names in os.walk(folder, topdown=False):
            for name in names:
                os.utime(os.path.join(above, name), (self.source.time, self.source.time))
            os.chmod(above, 0o755)
            os.utime(above, (self.source.time, self.source.time))
