"""The folder in which nearfold keeps what belongs to a user and to no file of theirs."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Return the folder for state of the user: `nearfold` in XDG_STATE_HOME, or its default."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "nearfold"
