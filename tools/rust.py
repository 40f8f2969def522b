"""Run the kernel's own checks if there is a Rust toolchain: format, lints, tests.

Build output is kept outside the checkout, so that a new checkout compiles little more than the
kernel itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from environment import ROOT, cache_folder

MANIFEST = ("--manifest-path", "kernel/Cargo.toml")
CHECKS = (
    ("fmt", *MANIFEST, "--check"),
    ("clippy", *MANIFEST, "--locked", "--quiet", "--all-targets", "--", "--deny", "warnings"),
    ("test", *MANIFEST, "--locked", "--quiet"),
)


def check() -> int:
    """Run the checks in order and return the exit code of the first that fails.

    Checks whose tool is missing are skipped.
    """
    for name, *rest in CHECKS:
        tool = "cargo" if name == "test" else f"cargo-{name}"
        if not (shutil.which("cargo") and shutil.which(tool)):
            print(f"\nno {tool}: the kernel's `cargo {name}` is skipped", flush=True)
            continue
        print(f"\n$ cargo {name} {' '.join(rest)}", flush=True)
        settings = {"CARGO_TARGET_DIR": str(cache_folder("kernel")), **os.environ}
        command = ["cargo", name, *rest]
        if code := subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode:
            return code
    return 0
