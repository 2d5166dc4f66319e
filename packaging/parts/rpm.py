"""The .rpm: for Fedora, RHEL, SUSE, and what comes from them."""
import os

from contents import CONFIGURATION
from source import DESCRIPTION, MACHINES, SUMMARY, need, run

DOCUMENTS = "/usr/share/doc/annals"
# Everything that rpmbuild would take from this machine, or change in the files.
SETTINGS = {
    "_buildhost": "annals",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
    "source_date_epoch_from_changelog": "0",
    "_build_id_links": "none",
    "debug_package": "%{nil}",
    "__os_install_post": "%{nil}",
}
SCRIPTS = """\
%pre
getent group annals >/dev/null || groupadd --system annals
getent passwd annals >/dev/null || useradd --system --gid annals --home-dir /var/lib/annals --no-create-home --shell /sbin/nologin annals

%post
# The folder of the repository, and never the repository: a server does not take a missing disk for an empty one.
[ -e /var/lib/annals ] || install -d -o annals -g annals -m 0750 /var/lib/annals
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || :
    # After an upgrade, a server that runs goes on with the new program. Nothing else is started.
    [ "$1" -lt 2 ] || systemctl try-restart annals.service || :
fi

%preun
if [ "$1" -eq 0 ] && [ -d /run/systemd/system ]; then
    systemctl --no-reload disable --now annals.service || :
fi

%postun
[ ! -d /run/systemd/system ] || systemctl daemon-reload || :
if [ "$1" -eq 0 ] && [ -e /var/lib/annals ]; then
    echo "annals: the repository stays in /var/lib/annals, and so does the user annals" >&2
fi
"""


def make(contents, folder, work):
    need("rpmbuild")
    source, architecture = contents.source, MACHINES[contents.machine][2]
    files = contents.files(DOCUMENTS, "/usr/share/zsh/site-functions")
    root = os.path.join(work, "root")
    contents.lay(files, root)
    listed = "".join(f"{'%config(noreplace) ' if path == CONFIGURATION else ''}{path}\n" for path in sorted(files))
    spec = (f"Name: annals\nVersion: {source.version}\nRelease: {source.revision}\nSummary: {SUMMARY}\nLicense: MIT OR Apache-2.0\n"
            "Requires(pre): /usr/sbin/useradd\nAutoReqProv: no\n"
            + ("" if contents.is_static else "Requires: glibc\n")
            + f"\n%description\n{DESCRIPTION}\n{SCRIPTS}\n%files\n%defattr(-,root,root)\n%dir /etc/annals\n{listed}")
    path = os.path.join(work, "annals.spec")
    with open(path, "w") as file:
        file.write(spec)
    settings = [word for name, value in SETTINGS.items() for word in ("--define", f"{name} {value}")]
    settings += ["--define", f"_binary_payload w{source.pressing}.xzdio"]
    run("rpmbuild", "-bb", "--quiet", "--buildroot", root, "--target", f"{architecture}-linux", "--define", f"_topdir {work}/top",
        "--define", f"_rpmdir {os.path.abspath(folder)}", "--define", "_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm", *settings, path)
