"""The tar.gz: the program with its pages and examples, for a machine without packages."""
import gzip
import io
import os
import tarfile

from contents import DOCUMENTS, pressed, read


def make(contents, folder, _):
    source = contents.source
    top = f"annals-{source.version}-linux-{contents.machine}"
    with open(contents.program, "rb") as file:
        files = {"annals": (0o755, file.read())}
    files.update({path: (0o644, read(path)) for path in (*DOCUMENTS, "CHANGELOG.md", "packaging/annals.service", "packaging/annals.toml")})
    files.update({f"man1/{page}.gz": (0o644, pressed(contents.made(f"man1/{page}"))) for page in contents.pages_of_manual()})
    for name in ("annals.bash", "_annals", "annals.fish"):
        files[f"completions/{name}"] = (0o644, contents.made(f"completions/{name}"))
    with open(os.path.join(folder, f"{top}.tar.gz"), "wb") as file:
        with gzip.GzipFile("", "wb", source.pressing, file, mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, (mode, data) in sorted(files.items()):
                add(tar, f"{top}/{name}", mode, data, source.time)


def add(tar, name, mode, data, time, owner=0, kind=tarfile.REGTYPE):
    """Adds a file or a folder, of which nothing is from this machine."""
    member = tarfile.TarInfo(name)
    member.mode, member.mtime, member.type, member.size = mode, time, kind, len(data)
    member.uid = member.gid = owner
    tar.addfile(member, io.BytesIO(data))
