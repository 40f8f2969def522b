"""Random kills on request; run in the folder `tests`.

python -m faults --kills 200                                  jobs on embedded stores
python -m faults --kills 100 --store opensearch --files 20000  jobs and an OpenSearch of their own, started from jars
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)]

from killing import cluster, embedded  # noqa: E402
from servers.choosing import ENGINES  # noqa: E402
from servers.process import Server  # noqa: E402


def main() -> None:
    """Kill, and print what was done; a failed assertion names the invariant that does not hold."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--store", choices=["sqlite", "opensearch"], default="sqlite")
    parser.add_argument("--files", type=int, help="how many to index (default: 500, 20,000 into OpenSearch)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no further kill after so long")
    given = parser.parse_args()
    say = partial(print, flush=True)
    say(f"--seed {given.seed}")
    began, until = time.monotonic(), time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        if given.store == "sqlite":
            toll = embedded(home, given.seed, given.files or 500, say).run(given.kills, until)
        else:
            node = Server(ENGINES["opensearch"])
            try:
                node.start()
                toll = cluster(home, given.seed, given.files or 20_000, node, say).run(given.kills, until)
            finally:
                node.close()
    say(f"{toll}; {time.monotonic() - began:,.0f} s; seed {given.seed}")


if __name__ == "__main__":
    main()
