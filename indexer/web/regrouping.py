"""A `group` that the page Threshold starts: one at a time, in the background."""

from __future__ import annotations

import threading

from indexer.errors import NearfoldError, StoreBusy
from indexer.grouping.account import GroupResult
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.stores.abilities import FullStore
from indexer.system.logs import event
from indexer.text.wording import count_of

_PATIENCE_SECONDS = 0.5  # for which `start` waits for an error, or the end


class Regrouping:
    """The last `group` of these pages; safe to share by threads."""

    def __init__(self, store: FullStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ended.set()
        self._command = ""
        self._state = ""
        self._error: NearfoldError | None = None

    def start(self, options: GroupOptions) -> None:
        """Start it. Raises `StoreBusy` while one runs, and what ends it at once."""
        with self._lock:
            if not self._ended.is_set():
                raise StoreBusy(what=self._store.url, holder=self._command)
            self._ended.clear()
            self._error = None
            self._command, self._state = f"group --threshold {options.threshold:g}", "begins"
        threading.Thread(target=self._run, args=[options], name="group", daemon=True).start()
        if self._ended.wait(_PATIENCE_SECONDS) and self._error is not None:
            raise self._error

    @property
    def state(self) -> str:
        """Return what became of it, or how far it is, in a sentence; empty without one."""
        return f"{self._command}: {self._state}" if self._command else ""

    def _run(self, options: GroupOptions) -> None:
        try:
            self._state = _spell_result(group(self._store, options, progress=self._report))
        except NearfoldError as error:
            self._error = error
            self._state = f"failed: {error}"
        except Exception as error:
            event("group_failed", "error", fault=error)
            self._state = "failed; see the terminal in which nearfold serve runs"
        finally:
            self._ended.set()

    def _report(self, stage: str, done: int, total: int) -> None:
        self._state = f"{stage}, {done:,} of {total:,}" if total else stage


def _spell_result(result: GroupResult) -> str:
    families, changed = count_of(result.families, "family"), count_of(result.changed, "document")
    return f"done: {families}, {changed} changed"
