from indexer import *  # noqa: F403 - the stub re-exports all public names

__version__: str
