"""The worker process's side: one document after another, from standard input to standard output,
until the input ends.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
from typing import BinaryIO

from indexer.errors import ExtractionError, ExtractorUnavailable, NearfoldError
from indexer.extraction.base import Extractor, TryAlone
from indexer.model import Document
from indexer.system.failpoints import VARIABLE, arm, reached

_PR_SET_PDEATHSIG = 1


def main(parent: int) -> None:
    """Serve the process `parent`. What it is sent: (maker, limits), then (bytes, name) for each
    document.

    What it answers: the extractor's identity, then for each document a `Document`, an
    `ExtractionError` or `TryAlone`; a `NearfoldError` instead of the identity when there is no
    extractor to be had.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    arm(os.environ.get(VARIABLE, ""))
    inbox, outbox = _pipes()
    extractor = _made(inbox)
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
    """Linux ends us when the thread that started us ends; elsewhere we end with the document in
    hand.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes under new numbers; what libraries print goes to standard error, what they read
    is empty.
    """
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return inbox, outbox


def _made(inbox: BinaryIO) -> Extractor | NearfoldError:
    identity = "of the pool"
    try:
        maker, limits = pickle.load(inbox)
        identity = maker.identity
        made: Extractor = maker(limits)
    except NearfoldError as error:
        return error
    except Exception as error:
        return ExtractorUnavailable(extractor=identity, reason=_named(error))
    return made


def _result(extractor: Extractor, data: bytes, name: str) -> Document | ExtractionError | TryAlone:
    try:
        reached("in_worker")
        return extractor.extract(data, name)
    except (ExtractionError, TryAlone) as problem:
        return problem
    except Exception as error:
        return ExtractionError(
            f"the extractor failed over it ({_named(error)}); report it with the document if you can"
        )


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _send(message: object, outbox: BinaryIO) -> None:
    pickle.dump(message, outbox, protocol=5)
    outbox.flush()
