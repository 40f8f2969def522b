"""A bill of materials of everything that nearfold may install, and the vulnerabilities that are
known of it.

    python3 tools/audit.py [--bill FILE] [--bill-only]

The bill (CycloneDX, JSON) needs no network. Vulnerabilities are asked of OSV's database, which
learns the names and versions of the packages; exits with 1 when one is known, and with 3 when the
database does not answer. tools/test.py does the same when NEARFOLD_ADVISORIES=1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from environment import LOCKS, ROOT, apart

LOCK, UNANSWERED = LOCKS / "all.txt", 3


def main(arguments: list[str]) -> int:
    """Write the bill, ask the database; the exit code of the first that fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bill", type=Path, default=ROOT / "build" / "bill.json", help="where the bill goes"
    )
    parser.add_argument("--bill-only", action="store_true", help="ask nobody")
    given = parser.parse_args(arguments)
    programs = apart("audit")
    given.bill.parent.mkdir(parents=True, exist_ok=True)
    listed = ["requirements", "--output-reproducible", "--output-file", str(given.bill), str(LOCK)]
    if code := subprocess.run([str(programs / "cyclonedx-py"), *listed], check=False).returncode:
        return code
    print(f"{given.bill}: what nearfold may install", flush=True)
    if given.bill_only:
        return 0
    return _known(programs)


def _known(programs: Path) -> int:
    """Ask for known vulnerabilities and show them."""
    asked = [
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
        [str(programs / "pip-audit"), *asked], check=False, stderr=subprocess.PIPE, text=True
    )
    if "requests.exceptions." in done.stderr:
        print(f"nothing was checked: {done.stderr.splitlines()[-1]}", file=sys.stderr)
        return UNANSWERED
    print(done.stderr, file=sys.stderr, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
