"""`python -m nearfold` is the same program as `nearfold`."""

from indexer.cli.main import main

if __name__ == "__main__":
    main()
