"""Write the corpus: `python -m corpus FOLDER` makes `fifty/` and `lookalikes/`, a file for each
document and format.
"""

from __future__ import annotations

import sys
from pathlib import Path

from corpus.files import write_corpus


def main(folder: str) -> int:
    """Write all files and say how many."""
    print(f"{sum(1 for _ in write_corpus(Path(folder)))} files in {folder}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
