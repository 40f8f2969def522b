"""Prepare a release, and build what it consists of.

    python3 tools/release.py 0.3.0    # set the version everywhere and date the changelog
    python3 tools/release.py --build  # into dist/: source distribution, wheels, bill of materials
    python3 tools/release.py --try dist  # the wheel of this system, in an empty environment

--try installs a wheel and what it depends on into an empty environment, and runs there, without
the checkout, what a new user runs: the commands of the demo, the README's Python, and `doctor`.

The source distribution holds the crates of the kernel, as Cargo.lock names them, so it builds
without a network. The wheels differ in the kernel alone, which Rust compiles and Zig links for each
system (needs `rustup`). Committing and tagging are left to you (docs/releasing.md).
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import audit
import demo
from environment import BIN, ROOT, apart, prepared

DIST = ROOT / "dist"
BUILT_FROM = (
    "indexer", "nearfold", "mappings", "kernel", "requirements/core.txt",
    "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE",
)  # fmt: skip
TARGETS = {  # of Rust, and the platforms of wheels
    "x86_64-unknown-linux-gnu.2.28": "manylinux_2_28_x86_64",
    "aarch64-unknown-linux-gnu.2.28": "manylinux_2_28_aarch64",
    "x86_64-unknown-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-unknown-linux-musl": "musllinux_1_2_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-pc-windows-gnu": "win_amd64",
}
LINKING = {  # symbols of Python are found by the process that loads the kernel
    "apple": "-C link-arg=-undefined -C link-arg=dynamic_lookup",
    "musl": "-C target-feature=-crt-static",
}
SDIST = "import setuptools.build_meta as build, sys; build.build_sdist(sys.argv[1])"
VERSION = re.compile(r"\d+\.\d+\.\d+\Z")
VERSIONED = ("pyproject.toml", "kernel/Cargo.toml")
LOCKED = '[[package]]\nname = "nearfold-kernel"\n'
UNRELEASED = "## [Unreleased]\n"


def main(arguments: list[str]) -> int:
    """Set a version or build a release; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", nargs="?", help="the version to set, such as 0.3.0")
    parser.add_argument("--build", action="store_true", help="build into dist/")
    parser.add_argument(
        "--try", dest="wheels", type=Path, help="run a wheel of this folder where nothing else is"
    )
    options = parser.parse_args(arguments)
    if sum(map(bool, (options.build, options.version, options.wheels))) != 1:
        parser.error("give a version, or --build, or --try FOLDER")
    if options.build:
        return build(DIST)
    if options.wheels:
        return try_wheel(options.wheels.resolve())
    try:
        set_version(ROOT, options.version, datetime.datetime.now(datetime.timezone.utc).date())
    except ValueError as error:
        parser.error(str(error))
    print(f"version {options.version}; look at `git diff`, then commit and tag v{options.version}")
    return 0


def set_version(root: Path, version: str, today: datetime.date) -> None:
    """Write a version into the project's files, and make it the newest of the changelog.

    Raises `ValueError` for another form than X.Y.Z, for a version that the changelog has, and when
    nothing is unreleased.
    """
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if not VERSION.match(version):
        raise ValueError(f"{version} is no version; give three numbers, such as 0.3.0")
    if f"## [{version}]" in text:
        raise ValueError(f"CHANGELOG.md has {version} already; give a later version")
    news = text.partition(UNRELEASED)[2].partition("\n## [")[0]
    if not news.strip():
        raise ValueError("CHANGELOG.md has nothing under Unreleased; there is nothing to release")
    heading = f"{UNRELEASED}\n## [{version}] - {today.isoformat()}\n"
    changelog.write_text(text.replace(UNRELEASED, heading, 1), encoding="utf-8")
    for name in VERSIONED:
        _replace_version(root / name, "", version)
    _replace_version(root / "kernel" / "Cargo.lock", LOCKED, version)


def _replace_version(path: Path, after: str, version: str) -> None:
    """Set the first `version = "..."` of a file that begins a line and comes after a text."""
    text = path.read_text(encoding="utf-8")
    start = text.index(after) + len(after)
    line = f'version = "{version}"'
    rest = re.sub(r'^version = ".*"$', line, text[start:], count=1, flags=re.MULTILINE)
    path.write_text(text[:start] + rest, encoding="utf-8")


def build(out: Path) -> int:
    """Build everything into `out`, and return the exit code of the first step that fails."""
    python = prepared("core")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        sources = copy_sources(Path(folder) / "sources")
        vendor_crates(sources)
        command = [str(python), "-c", SDIST, str(out)]
        subprocess.run(command, cwd=sources, check=True, stdout=subprocess.DEVNULL)  # each file
        wheel = [str(python), "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        environment = {**os.environ, "NEARFOLD_REQUIRE_KERNEL": "1", "CARGO_NET_OFFLINE": "true"}
        subprocess.run(
            [*wheel, "--wheel-dir", folder, "."], cwd=sources, env=environment, check=True
        )
        [built] = Path(folder).glob("*.whl")
        for target, platform in TARGETS.items():
            cross_build(sources, built, target, platform, out)
    for path in sorted(out.iterdir()):
        print(f"{path}  {path.stat().st_size:,} bytes")
    return audit.main(["--bill-only", "--bill", str(out / "nearfold.cdx.json")])


def cross_build(sources: Path, wheel: Path, target: str, platform: str, out: Path) -> None:
    """Write a wheel with its kernel built for another system."""
    programs = apart("cross")
    rust_name = target.partition(".")[0]
    subprocess.run(["rustup", "target", "add", rust_name], cwd=ROOT, check=True)
    flags = [flag for system, flag in LINKING.items() if system in target]
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "RUSTFLAGS": " ".join(flags),
    }
    command = ["cargo", "zigbuild", "--quiet", "--release", "--locked", "--features", "extension"]
    folder = sources / "kernel" / "target"
    command += ["--manifest-path", "kernel/Cargo.toml", "--target", target]
    subprocess.run(
        [*command, "--target-dir", str(folder)], cwd=sources, env=environment, check=True
    )
    built = (folder / rust_name / "release").iterdir()
    [kernel] = [path for path in built if path.suffix in {".so", ".dylib", ".dll"}]
    with tempfile.TemporaryDirectory() as unpacked:
        tool = [str(programs / "wheel")]
        subprocess.run([*tool, "unpack", "--dest", unpacked, str(wheel)], check=True)
        [root] = Path(unpacked).iterdir()
        (root / "indexer" / "_kernel.abi3.so").unlink()
        name = "_kernel.pyd" if platform.startswith("win") else "_kernel.abi3.so"
        shutil.copy(kernel, root / "indexer" / name)
        [tags] = root.glob("*.dist-info/WHEEL")
        tags.write_text(re.sub(r"(?m)^Tag: .*$", f"Tag: cp310-abi3-{platform}", tags.read_text()))
        subprocess.run([*tool, "pack", "--dest-dir", str(out), str(root)], check=True)


def try_wheel(wheels: Path) -> int:
    """Install the wheel of this system into an empty environment and run it there; return the first
    exit code that is not 0.
    """
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    with tempfile.TemporaryDirectory(prefix="nearfold-wheel-") as folder:
        scratch = Path(folder)
        venv.create(scratch / "venv", with_pip=True)
        python = scratch / "venv" / BIN.name / "python"
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        lock = ["--require-hashes", "--requirement", str(ROOT / "requirements" / "core.txt")]
        own = ["--no-deps", "--no-index", "--find-links", str(wheels), "nearfold"]
        for packages in (lock, own):
            subprocess.run([*pip, *packages], check=True)
        shutil.copytree(ROOT / "examples", scratch / "examples")
        commands = [[str(python.parent / "nearfold"), *words] for words in demo.COMMANDS]
        commands += [[str(python), "-W", "error", "-c", program] for program in programs]
        commands += [[str(python.parent / "nearfold"), "doctor"]]
        environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
        if os.name == "nt":
            environment = {**os.environ, "HOME": folder}
        for command in commands:
            print(f"\n$ {subprocess.list2cmdline(command)}", flush=True)
            done = subprocess.run(command, cwd=scratch, env=environment, check=False)
            if done.returncode:
                return done.returncode
    return 0


def copy_sources(folder: Path) -> Path:
    """Copy the files of a release that git tracks, and return the folder."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", *BUILT_FROM], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    for name in filter(None, listing.stdout.decode().split("\0")):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place)
    return folder


def vendor_crates(sources: Path) -> None:
    """Put the crates of the kernel beside it, and tell cargo to use them."""
    command = ["cargo", "vendor", "--locked", "--manifest-path", "kernel/Cargo.toml"]
    settings = subprocess.run(
        [*command, "kernel/vendor"], cwd=sources, check=True, stdout=subprocess.PIPE, text=True
    )
    (sources / ".cargo").mkdir()
    (sources / ".cargo" / "config.toml").write_text(settings.stdout, encoding="utf-8")
    with (sources / "MANIFEST.in").open("a", encoding="utf-8") as manifest:
        manifest.write("graft kernel/vendor\ninclude .cargo/config.toml\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
