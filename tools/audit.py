"""List everything that nearfold may install, and its known vulnerabilities.

    python3 tools/audit.py [--bill FILE] [--bill-only]

The bill of materials (CycloneDX, JSON) needs no network. Vulnerabilities come from OSV's database,
which receives the names and versions of the packages. Exits with 1 when there is one, and with 3
when the database does not answer. tools/test.py does the same when NEARFOLD_ADVISORIES=1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pdfjs
from environment import LOCKS, ROOT, apart

LOCK, UNANSWERED = LOCKS / "all.txt", 3


def main(arguments: list[str]) -> int:
    """Write the bill, query the database, and return the exit code of the first that fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bill", type=Path, default=ROOT / "build" / "bill.json", help="where the bill goes"
    )
    parser.add_argument("--bill-only", action="store_true", help="do not query the database")
    options = parser.parse_args(arguments)
    programs = apart("audit")
    options.bill.parent.mkdir(parents=True, exist_ok=True)
    output = ["--output-reproducible", "--output-file", str(options.bill)]
    command = [str(programs / "cyclonedx-py"), "requirements", *output, str(LOCK)]
    if code := subprocess.run(command, check=False).returncode:
        return code
    _add_copied(options.bill)
    print(f"{options.bill}: the packages that nearfold may install", flush=True)
    return 0 if options.bill_only else _report_vulnerabilities(programs)


def _add_copied(bill: Path) -> None:
    """Add to the bill what is copied into the package."""
    content = json.loads(bill.read_text(encoding="utf-8"))
    reference = f"pkg:npm/pdfjs-dist@{pdfjs.VERSION}"
    copied = {
        "type": "library",
        "bom-ref": reference,
        "name": "pdfjs-dist",
        "version": pdfjs.VERSION,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": reference,
    }
    content.setdefault("components", []).append(copied)
    bill.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _report_vulnerabilities(programs: Path) -> int:
    """Print the known vulnerabilities and return the exit code."""
    options = [
        "--vulnerability-service",
        "osv",
        "--no-deps",
        "--disable-pip",
        "--timeout",
        "15",
        "--requirement",
        str(LOCK),
    ]
    done = subprocess.run(
        [str(programs / "pip-audit"), *options], check=False, stderr=subprocess.PIPE, text=True
    )
    if "requests.exceptions." in done.stderr:
        print(f"nothing was checked: {done.stderr.splitlines()[-1]}", file=sys.stderr)
        return UNANSWERED
    print(done.stderr, file=sys.stderr, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
