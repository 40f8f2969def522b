"""Copy pdf.js from its npm package into indexer/review/originals/pdfjs, with its licences and
digests.

    python3 tools/pdfjs.py FOLDER    # the folder `package` of an unpacked pdfjs-dist

Get it by `npm pack pdfjs-dist@VERSION`, and set the version here, in
indexer/review/originals/pages.py and in the folder's README; then run tools/licences.py.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from environment import ROOT

VERSION = "6.5.438"
TARGET = ROOT / "indexer" / "review" / "originals" / "pdfjs"
SUMS = "SHA256SUMS"
OURS = {"README.md", SUMS}
FILES = (
    "LICENSE",
    "build/pdf.min.mjs",
    "build/pdf.worker.min.mjs",
    "standard_fonts/FoxitDingbats.pfb",
    "standard_fonts/FoxitSymbol.pfb",
    "standard_fonts/LICENSE_FOXIT",
    "wasm/jbig2_nowasm_fallback.js",
    "wasm/openjpeg_nowasm_fallback.js",
    "wasm/LICENSE_JBIG2",
    "wasm/LICENSE_OPENJPEG",
    "wasm/LICENSE_PDFJS_JBIG2",
    "wasm/LICENSE_PDFJS_OPENJPEG",
)


def main(arguments: list[str]) -> int:
    """Copy the files and write their digests."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    source = Path(arguments[0])
    for path in TARGET.iterdir():
        if path.name not in OURS:
            path.unlink()
    for name in FILES:
        shutil.copyfile(source / name, TARGET / Path(name).name)
    for path in (source / "cmaps").glob("*.bcmap"):
        shutil.copyfile(path, TARGET / path.name)
    shutil.copyfile(source / "cmaps" / "LICENSE", TARGET / "LICENSE_CMAPS")
    (TARGET / SUMS).write_text("".join(digest_lines()), encoding="utf-8")
    return 0


def digest_lines() -> list[str]:
    """Return the digest and the name of each file, as `sha256sum --check` reads them."""
    files = sorted(path for path in TARGET.iterdir() if path.name not in OURS)
    return [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
