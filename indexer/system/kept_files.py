"""Files that recipes need to sign, kept by the ids of what they hold on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from indexer.errors import UsageError
from indexer.system.state_folder import state_folder
from indexer.system.whole_file import write_whole


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_HasId)


@dataclass(frozen=True)
class KeptFiles(Generic[T]):
    """Values kept in a folder of the user's state, each in a file named by its id.

    `folder`: in that for user state. `variable`: the environment variable that names another file.
    `what`: the values, in messages. `read`: returns the value of a file's bytes.
    """

    folder: str
    variable: str
    what: str
    read: Callable[[bytes], T]

    def place(self, id: str) -> Path:
        """Return the file of an id, which need not exist."""
        return state_folder() / self.folder / id

    def keep(self, id: str, data: bytes) -> None:
        """Write the file of a value unless it is there. Raises `UsageError` when it cannot."""
        place = self.place(id)
        if place.exists():
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{self.what} cannot be kept in {place.parent} ({error.strerror}); "
                "set XDG_STATE_HOME to a folder that can be written"
            ) from error
        with write_whole(place, self.what) as part:
            part.write_bytes(data)

    def find(self, id: str) -> T | None:
        """Return the value of an id, from its file or the named one; None when neither has it."""
        named = os.environ.get(self.variable)
        for place in [self.place(id), *([Path(named)] if named else [])]:
            if place.is_file():
                value = self.read(place.read_bytes())
                if value.id == id:
                    return value
        return None
