"""The main loop of a worker process: documents from standard input, results to standard output."""

from __future__ import annotations

import ctypes
import errno
import os
import pickle
import platform
import signal
import struct
import sys
from typing import BinaryIO

from indexer.documents.base import Extractor, TryAlone
from indexer.errors import ExtractionError, ExtractorUnavailable, NearfoldError
from indexer.model import Document
from indexer.system.failpoints import VARIABLE, arm, reached

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_FILTER_MODE = 2  # of seccomp
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # instructions of the filter
_NUMBER, _ARCHITECTURE, _FLAGS = 0, 4, 16  # offsets in what it sees of a system call
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_CLONE_THREAD, _CLONE3 = 0x10000, 435
# architecture: its number, that of clone, and those of calls that start a process or a program
_CALLS = {
    "x86_64": (0xC000003E, 56, (57, 58, 59, 322)),
    "aarch64": (0xC00000B7, 220, (221, 281)),
}


def main(parent: int) -> None:
    """Serve the process `parent` until the input ends.

    It sends (factory, limits), then (bytes, name) for each document. The responses are the
    extractor's identity, then for each document a `Document`, an `ExtractionError` or `TryAlone`; a
    `NearfoldError` instead of the identity when the extractor cannot be made.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    _start_no_program()
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


def _start_no_program() -> None:
    """Let this process start no program; threads go on to start.

    Texts do not depend on what is installed: Tika would look for Tesseract, six times a document,
    and read pictures with it. On Linux each look copied the tables of this process's memory, four
    fifths of the time of a short page; a filter of seccomp(2) refuses that at once. `clone` fails
    without the flag of threads, and `clone3`, whose flags a filter cannot see, is said not to
    exist, so that the C library takes `clone`. Where there is no such filter, programs are not
    found.
    """
    os.environ["PATH"] = os.devnull
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        return
    architecture, clone, calls = _CALLS[platform.machine()]
    refused = [*((call, errno.EAGAIN) for call in calls), (_CLONE3, errno.ENOSYS)]
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_IF_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _ALLOW)]
    code += [(_LOAD, 0, 0, _NUMBER)]
    for call, error in refused:
        code += [(_IF_EQUAL, 0, 1, call), (_RETURN, 0, 0, _FAIL | error)]
    code += [(_IF_EQUAL, 0, 2, clone), (_LOAD, 0, 0, _FLAGS), (_IF_ANY_BIT, 0, 1, _CLONE_THREAD)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL | errno.EAGAIN)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
    header = struct.pack("@HP", len(code), ctypes.addressof(program))
    prctl = ctypes.CDLL(None).prctl
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.c_char_p(header))


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
