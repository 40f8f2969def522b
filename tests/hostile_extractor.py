"""An extractor that misbehaves as its documents tell it to, as hostile documents make one do."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from indexer.documents.base import Limits, TryAlone
from indexer.errors import ExtractionError, ExtractorUnavailable, MissingExtra
from indexer.model import Document


class HostileExtractor:
    """Extractor that obeys `WORD ARGUMENT`; its documents' text ends in its process id."""

    identity = "hostile/1"
    extra_seconds = 0.0

    def __init__(self, limits: Limits) -> None:
        self.ballast = bytearray()

    def extract(self, data: bytes, name: str) -> Document:
        word, _, argument = data.decode().partition(" ")
        getattr(self, f"_{word}", lambda _: None)(argument)
        return Document(f"{name} {len(data)} {os.getpid()}", extractor=self.identity)

    def _sleep(self, seconds: str) -> None:
        time.sleep(float(seconds))

    def _hang(self, _: str) -> None:
        while True:
            time.sleep(1000)

    def _spin(self, _: str) -> None:
        while True:
            pass

    def _crash(self, _: str) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(10)

    def _exit(self, code: str) -> None:
        os._exit(int(code))

    def _eat(self, megabytes: str) -> None:
        """Allocate so much memory, 10 MB every 10 ms, and release nothing."""
        for _ in range(int(megabytes) // 10):
            self.ballast += b"x" * (10 << 20)
            time.sleep(0.01)

    def _start(self, program: str) -> None:
        thread = threading.Thread(target=len, args=("",))
        thread.start()
        thread.join()
        os.posix_spawnp(program, [program], os.environ)

    def _refuse(self, reason: str) -> None:
        raise ExtractionError(reason)

    def _blunder(self, reason: str) -> None:
        raise ZeroDivisionError(reason)

    def _print(self, text: str) -> None:
        print(text)
        os.write(1, text.encode())
        sys.stdout.flush()

    def _read(self, _: str) -> None:
        if sys.stdin.read() or os.read(0, 10):
            raise ExtractionError("standard input was not empty")

    def _gone(self, reason: str) -> None:
        raise ExtractorUnavailable(extractor=self.identity, reason=reason)

    def _alone(self, place: str) -> None:
        """Ask to be tried alone, and the second time refuse if another worker is busy."""
        once = Path(place) / f"once-{os.getpid()}"
        if not any(Path(place).glob("once-*")):
            once.touch()
            raise TryAlone
        if any(Path(place).glob("busy-*")):
            raise ExtractionError("not alone")

    def _busy(self, place: str) -> None:
        mark = Path(place) / f"busy-{os.getpid()}"
        mark.touch()
        time.sleep(0.2)
        mark.unlink()

    def _broken(self, _: str) -> None:
        raise TryAlone


class UnavailableExtractor:
    """Extractor whose construction fails; `identity` selects the error."""

    extra_seconds = 0.0

    def __init__(self, identity: str) -> None:
        self.identity = identity

    def __call__(self, limits: Limits) -> HostileExtractor:
        match self.identity:
            case "missing":
                raise MissingExtra(package="tika", extra="tika")
            case "unavailable":
                raise ExtractorUnavailable(extractor="it", reason="no server")
            case "blunder":
                raise ZeroDivisionError("by nought")
        os._exit(7)
