"""The .deb: for Debian, Ubuntu, and what comes from them."""
import email.utils
import hashlib
import os

from contents import CONFIGURATION, pressed, read
from source import DESCRIPTION, MACHINES, MAINTAINER, SUMMARY, need, run

DOCUMENTS = "/usr/share/doc/annals"


def make(contents, folder, work):
    need("dpkg-deb")
    source, architecture = contents.source, MACHINES[contents.machine][1]
    version = f"{source.version}-{source.revision}"
    files = contents.files(DOCUMENTS, "/usr/share/zsh/vendor-completions")
    # The licences are in the file copyright.
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        del files[f"{DOCUMENTS}/{name}"]
    files[f"{DOCUMENTS}/copyright"] = (0o644, read("packaging/debian/copyright") + licence())
    files[f"{DOCUMENTS}/changelog.Debian.gz"] = (0o644, pressed(changelog(source, version).encode()))
    files["/usr/share/lintian/overrides/annals"] = (0o644, read("packaging/debian/lintian-overrides"))
    sums = [(digest(data), path[1:]) for path, (_, data) in sorted(files.items()) if path != CONFIGURATION]
    needs = ["adduser"] + ([] if contents.is_static else ["libc6", "libgcc-s1"])
    size = sum(os.path.getsize(data) if isinstance(data, str) else len(data) for _, data in files.values())
    files["/DEBIAN/control"] = (0o644, control(version, architecture, needs, size).encode())
    files["/DEBIAN/conffiles"] = (0o644, f"{CONFIGURATION}\n".encode())
    files["/DEBIAN/md5sums"] = (0o644, "".join(f"{known}  {path}\n" for known, path in sums).encode())
    for name in ("postinst", "prerm", "postrm"):
        files[f"/DEBIAN/{name}"] = (0o755, read(f"packaging/debian/{name}"))
    contents.lay(files, work)
    # One thread: several of them press otherwise.
    run("dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", f"-z{source.pressing}", "--build", work, os.path.join(folder, f"annals_{version}_{architecture}.deb"))


def control(version, architecture, needs, size):
    told = "".join(f" {line}\n" for line in DESCRIPTION.splitlines())
    return (f"Package: annals\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
            f"Installed-Size: {-(-size // 1024)}\nDepends: {', '.join(needs)}\nSection: database\nPriority: optional\n"
            f"Description: {SUMMARY}\n{told}")


def changelog(source, version):
    day = email.utils.formatdate(source.time)
    return f"annals ({version}) unstable; urgency=medium\n\n  * The changes are in changelog.gz.\n\n -- {MAINTAINER}  {day}\n"


def licence():
    """The text of the licence MIT, as the file copyright wants it."""
    lines = read("LICENSE-MIT").decode().strip().splitlines()[2:]
    return "".join(f" {line.strip() or '.'}\n" for line in lines).encode()


def digest(data):
    if isinstance(data, str):
        with open(data, "rb") as file:
            data = file.read()
    return hashlib.md5(data).hexdigest()
