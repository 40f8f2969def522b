"""The steps of the Dockerfile, run without a container engine: the build in an overlay of this
machine, what it made in a clean root that is read-only, as the user of the image.

Packages of the system (`apt-get`, Rust) and the base image are those of this machine instead.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACE = "/opt/nearfold"
SHARED = ("usr", "bin", "lib", "lib64", "sbin")  # the base image's
FERRY = "The ferry leaves at eight in the morning and returns at six in the evening."

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() or not shutil.which("cargo"),
        reason="needs Linux, root for mounts, and a Rust toolchain",
    ),
]


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of both stages of the Dockerfile."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [re.findall(r"^([A-Z]+) (.*)$", stage, re.M) for stage in text.split("\nFROM ")[1:]]
    assert len(lines) == 2
    return lines


def isolated(script: str, *more: str) -> str:
    """Run a script with mounts of its own, and return its output."""
    command = ["unshare", "--mount", *more, "bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def build(folder: Path) -> Path:
    """Run the first stage in an overlay of this machine; return what it put into /opt/nearfold."""
    overlay, changes = folder / "overlay", folder / "changes"
    for path in (overlay, changes, folder / "scratch"):
        path.mkdir()
    steps = ["cd /src"]
    for name, value in stages()[0]:
        if name == "COPY":
            *sources, target = value.split()
            steps.append(f"mkdir -p {target} && cp -r {' '.join(sources_of(sources))} {target}")
        elif name == "RUN" and "apt-get" not in value:
            steps.append(value)
    options = f"lowerdir=/,upperdir={changes},workdir={folder}/scratch"
    inner = f"unset PYTHONDONTWRITEBYTECODE; export PATH={PLACE}/bin:$PATH; {'; '.join(steps)}"
    isolated(
        f"mount -t overlay overlay -o {options} {overlay}; mkdir -p {overlay}/src {overlay}/from\n"
        f"mount --bind {ROOT} {overlay}/from; mount --bind /proc {overlay}/proc\n"
        f"mount --bind /dev {overlay}/dev; chroot {overlay} bash -euc {shlex.quote(inner)}"
    )
    return changes / PLACE[1:]


def sources_of(names: list[str]) -> list[str]:
    """Return the paths of files below /from; the content of a folder, as COPY takes it."""
    return [f"/from/{name}." if name.endswith("/") else f"/from/{name}" for name in names]


def clean_root(folder: Path) -> Path:
    """Return a root with empty folders, and the accounts that the second stage makes."""
    root = folder / "root"
    prefix = Path(sys.base_prefix)
    for name in (*SHARED, "etc", "tmp", "data", "proc", "dev", "documents", PLACE[1:], "var/mail"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / str(prefix)[1:]).mkdir(parents=True, exist_ok=True)
    for name in ("passwd", "group", "shadow", "gshadow", "subuid", "subgid"):
        (root / "etc" / name).touch()
    shutil.copy("/etc/login.defs", root / "etc")
    return root


def mounts(root: Path, made: Path, documents: Path) -> str:
    """Return the script that mounts all but /data and /tmp read-only."""
    binds = {f"/{name}": f"/{name}" for name in SHARED if Path(f"/{name}").exists()}
    binds |= {sys.base_prefix: sys.base_prefix, str(made): PLACE, str(documents): "/documents"}
    lines = [
        f"mount --bind {source} {root}{target}; mount -o remount,bind,ro {root}{target}"
        for source, target in binds.items()
    ]
    # A bind of the root itself, so that it can be read-only while /data is not.
    lines.insert(0, f"mount --bind {root} {root}")
    lines.append(f"mount --bind {root}/data {root}/data")
    lines.append(f"mount -t proc proc {root}/proc; mount -t tmpfs tmpfs {root}/tmp")
    lines.append(f"touch {root}/dev/null; mount --bind /dev/null {root}/dev/null")
    lines.append(f"touch {root}/dev/urandom; mount --bind /dev/urandom {root}/dev/urandom")
    lines.append(f"mount -o remount,bind,ro {root}; ip link set lo up")
    return "\n".join(lines)


def test_what_the_dockerfile_makes_runs_as_its_user_on_a_read_only_root(tmp_path: Path) -> None:
    final = stages()[1]
    settings = " ".join(value for name, value in final if name == "ENV")
    steps = dict(final)
    user = steps["USER"]
    made, root = build(tmp_path), clean_root(tmp_path)
    documents = tmp_path / "documents"
    documents.mkdir()
    for name, text in (("a", FERRY), ("b", FERRY.upper()), ("c", f"{FERRY} Dogs travel free.")):
        (documents / f"{name}.txt").write_text(text, encoding="utf-8")
    # The base image has these folders, so `useradd` needs no more than they hold.
    added = " ".join(value for name, value in final if name == "RUN" and "useradd" in value)
    entry = shlex.join(json.loads(steps["ENTRYPOINT"]))
    serve = f"{entry} {shlex.join(json.loads(steps['CMD']))}"
    health = shlex.join(json.loads(steps["HEALTHCHECK"].partition("CMD ")[2]))
    inside = f"""
        export {settings.replace("$PATH", "/usr/bin:/bin")} HOME=/data; cd {steps["WORKDIR"]}
        id -u; {entry} index /documents; {entry} search ferry --json > /tmp/hits; cat /tmp/hits
        for place in / /opt/nearfold /usr /documents; do
            if touch $place/written 2> /dev/null; then echo "$place is written"; exit 1; fi
        done
        {serve} > /tmp/log 2>&1 & server=$!
        for attempt in $(seq 600); do {health} 2> /dev/null && break; done
        {health} && echo healthy; kill $server; wait $server || true; cat /tmp/log
    """
    as_user = f"setpriv --reuid {user} --regid {user} --clear-groups --no-new-privs"
    output = isolated(
        f"mount --bind /usr {root}/usr; "
        + "".join(f"mount --bind /{name} {root}/{name}; " for name in SHARED[1:])
        + f"chroot {root} {added}; "
        + "".join(f"umount {root}/{name}; " for name in reversed(SHARED))
        + f"chown {user}:{user} {root}/data; {mounts(root, made, documents)}\n"
        + f"chroot {root} {as_user} env -i bash -euc {shlex.quote(inside)}",
        "--net", "--pid", "--fork",
    )  # fmt: skip
    lines = output.splitlines()
    assert lines[0] == user
    assert "3 documents: 3 indexed" in output
    assert json.loads(next(line for line in lines if line.startswith("{")))["total"] == 3
    assert "healthy" in lines
    assert (root / "data" / "nearfold.db").stat().st_uid == int(user)
