"""The main loop of a worker process: documents from standard input, results to standard output."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
from typing import BinaryIO

from indexer.documents.base import Extractor, TryAlone
from indexer.errors import ExtractionError, ExtractorUnavailable, NearfoldError
from indexer.model import Document
from indexer.system.failpoints import VARIABLE, arm, reached

_PR_SET_PDEATHSIG = 1


def main(parent: int) -> None:
    """Serve the process `parent` until the input ends.

    It sends (factory, limits), then (bytes, name) for each document. The answers are the
    extractor's identity, then for each document a `Document`, an `ExtractionError` or `TryAlone`; a
    `NearfoldError` instead of the identity when the extractor cannot be made.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    arm(os.environ.get(VARIABLE, ""))
    inbox, outbox = _pipes()
    extractor = _make_extractor(inbox)
    if isinstance(extractor, NearfoldError):
        _send(extractor, outbox)
        return
    _send(extractor.identity, outbox)
    while True:
        try:
            data, name = pickle.load(inbox)
        except EOFError:
            return
        _send(_result(extractor, data, name), outbox)


def _die_with(parent: int) -> None:
    """End this process with its parent: on Linux at once, when the thread that started it ends;
    elsewhere after the current document.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the two pipes under new numbers; libraries now print to standard error, and read
    nothing.
    """
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return inbox, outbox


def _make_extractor(inbox: BinaryIO) -> Extractor | NearfoldError:
    identity = "of the pool"
    try:
        factory, limits = pickle.load(inbox)
        identity = factory.identity
        extractor: Extractor = factory(limits)
    except NearfoldError as error:
        return error
    except Exception as error:
        return ExtractorUnavailable(extractor=identity, reason=_description(error))
    return extractor


def _result(extractor: Extractor, data: bytes, name: str) -> Document | ExtractionError | TryAlone:
    try:
        reached("in_worker")
        return extractor.extract(data, name)
    except (ExtractionError, TryAlone) as error:
        return error
    except Exception as error:
        return ExtractionError(
            f"the extractor failed ({_description(error)}); report it with the document if you can"
        )


def _description(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _send(message: object, outbox: BinaryIO) -> None:
    pickle.dump(message, outbox, protocol=5)
    outbox.flush()
