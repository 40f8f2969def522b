"""The kernel's own checks, where there is a Rust toolchain: form, lints, its tests.

What they build is kept outside the checkout, so that a new checkout compiles little more than the
kernel itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from environment import ROOT

MANIFEST = ("--manifest-path", "kernel/Cargo.toml")
CHECKS = (
    ("fmt", *MANIFEST, "--check"),
    ("clippy", *MANIFEST, "--locked", "--quiet", "--all-targets", "--", "--deny", "warnings"),
    ("test", *MANIFEST, "--locked", "--quiet"),
)


def failed() -> int:
    """Run the checks in order and stop at the first that fails; its exit code. Those that cannot be
    had are left out.
    """
    for name, *rest in CHECKS:
        tool = "cargo" if name == "test" else f"cargo-{name}"
        if not (shutil.which("cargo") and shutil.which(tool)):
            print(f"\nno {tool}: the kernel's `cargo {name}` is left out", flush=True)
            continue
        print(f"\n$ cargo {name} {' '.join(rest)}", flush=True)
        settings = {"CARGO_TARGET_DIR": str(_built()), **os.environ}
        if code := subprocess.run(
            ["cargo", name, *rest], cwd=ROOT, env=settings, check=False
        ).returncode:
            return code
    return 0


def _built() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "nearfold" / "kernel-checks"
