"""`python -m indexer` is the same program as `nearfold`."""

from indexer.cli import main

if __name__ == "__main__":
    main()
