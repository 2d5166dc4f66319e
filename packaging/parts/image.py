"""The image: one layer with the program alone, as an OCI archive that docker, podman and buildah load."""
import datetime
import gzip
import hashlib
import io
import json
import os
import re
import tarfile

from archive import add
from source import MACHINES, run

# User and group of the program.
USER = 8280
FOLDERS = {"etc": (0o755, 0), "etc/annals": (0o755, 0), "tmp": (0o1777, 0), "usr": (0o755, 0), "usr/bin": (0o755, 0), "var": (0o755, 0),
           "var/lib": (0o755, 0), "var/lib/annals": (0o750, USER)}
FILES = {"etc/passwd": f"annals:x:{USER}:{USER}:Annals:/var/lib/annals:/sbin/nologin\n", "etc/group": f"annals:x:{USER}:\n"}
SECOND = 1_000_000_000


def make(contents, folder, _):
    source, architecture = contents.source, MACHINES[contents.machine][3]
    whole = layer(contents)
    zipped = gzip.compress(whole, source.pressing, mtime=0)
    when = datetime.datetime.fromtimestamp(source.time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = encoded({
        "architecture": architecture, "os": "linux", "created": when, "config": settings(),
        "rootfs": {"type": "layers", "diff_ids": [digest(whole)]},
        "history": [{"created": when, "created_by": "packaging/release"}],
    })
    manifest = encoded({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described("application/vnd.oci.image.config.v1+json", config),
        "layers": [described("application/vnd.oci.image.layer.v1.tar+gzip", zipped)],
    })
    name = f"localhost/annals:{source.version}"
    # The first for podman and buildah, the other one for Docker.
    named = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
    index = encoded({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [described("application/vnd.oci.image.manifest.v1+json", manifest) | {"annotations": named}],
    })
    files = {"oci-layout": encoded({"imageLayoutVersion": "1.0.0"}), "index.json": index}
    files.update({f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}": blob for blob in (zipped, config, manifest)})
    with tarfile.open(os.path.join(folder, f"annals-{source.version}-{contents.machine}.oci.tar"), "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(files.items()):
            add(tar, name, 0o644, data, source.time)


def settings():
    """The settings of the image, unless it is told otherwise. It listens at all addresses of its container, and takes only clients with
    a token of the file."""
    return {
        "User": f"{USER}:{USER}",
        "Env": ["PATH=/usr/bin", "ANNALS_REPOSITORY=/var/lib/annals", "ANNALS_TOKENS=/etc/annals/tokens"],
        "Entrypoint": ["/usr/bin/annals"],
        "Cmd": ["serve", "--listen", "0.0.0.0:8280", "--insecure-plain"],
        "ExposedPorts": {"8280/tcp": {}},
        "Volumes": {"/var/lib/annals": {}},
        "WorkingDir": "/var/lib/annals",
        # The server stops in order, within --stop-time-ms (20 s).
        "StopSignal": "SIGTERM",
        # Docker reads it. Others run the same command.
        "Healthcheck": {"Test": ["CMD", "/usr/bin/annals", "health"], "Interval": 30 * SECOND, "Timeout": 8 * SECOND,
                        "StartPeriod": 10 * SECOND, "Retries": 3},
    }


def layer(contents):
    """The files of the image, as a tar."""
    out, time = io.BytesIO(), contents.source.time
    folders, files = dict(FOLDERS), {name: (0o644, text.encode()) for name, text in FILES.items()}
    with open(contents.program, "rb") as file:
        files["usr/bin/annals"] = (0o755, file.read())
    if not contents.is_static:
        # Of a debug build, which tests take, with its libraries.
        for path in re.findall(r"(/\S+) \(0x", run("ldd", contents.program, text=True)):
            with open(path, "rb") as file:
                files[path[1:]] = (0o755, file.read())
            above = os.path.dirname(path[1:])
            while above:
                folders.setdefault(above, (0o755, 0))
                above = os.path.dirname(above)
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (mode, owner) in sorted(folders.items()):
            add(tar, name, mode, b"", time, owner, tarfile.DIRTYPE)
        for name, (mode, data) in sorted(files.items()):
            add(tar, name, mode, data, time)
    return out.getvalue()


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def described(kind, data):
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}
