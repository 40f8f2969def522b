"""Build the kernel where there is a Rust toolchain; leave it out where there is none or where it
does not compile.

The wheel's tag says which: cp310-abi3 with the kernel, py3-none-any without. With
NEARFOLD_REQUIRE_KERNEL=1 in the environment a build without the kernel fails; releases are built
that way.
"""

import os
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools_rust import Binding, RustExtension

KERNEL = RustExtension(
    "indexer._kernel",
    path="kernel/Cargo.toml",
    args=["--locked"],
    features=["extension"],
    binding=Binding.PyO3,
    py_limited_api=True,
    debug=False,
    optional=os.environ.get("NEARFOLD_REQUIRE_KERNEL", "") in {"", "0"},
)


class Wheel(bdist_wheel):
    """A wheel that is pure when the kernel could not be built."""

    def run(self) -> None:
        """Build the kernel first, then make the wheel that fits."""
        folder = Path(self.get_finalized_command("build").build_lib, "indexer")
        for stale in folder.glob("_kernel.*[!i]"):
            stale.unlink()
        self.run_command("build_ext")
        if not any(folder.glob("_kernel.*[!i]")):
            self.distribution.has_ext_modules = lambda: False
            self.root_is_pure = True
        super().run()


setup(
    packages=[*find_packages(include=["indexer*", "nearfold"]), "indexer._mappings"],
    package_dir={
        "indexer._mappings": "mappings"
    },  # outside the package in a checkout, inside it in a wheel
    rust_extensions=[KERNEL],
    cmdclass={"bdist_wheel": Wheel},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
