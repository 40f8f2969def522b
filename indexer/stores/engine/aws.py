"""AWS credentials that sign requests, as botocore finds them."""

from __future__ import annotations

from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from indexer.errors import UsageError


def credentials() -> Credentials:
    """Return the AWS credentials, renewed when they expire.

    They come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else from a profile, else from the
    role of the machine. Raises `UsageError` when there are none.
    """
    try:
        session_credentials = Session().get_credentials()
    except BotoCoreError as error:
        raise UsageError(
            f"the AWS credentials cannot be read: {error}; check AWS_PROFILE and its files"
        ) from error
    if session_credentials is None:
        raise UsageError(
            "there are no AWS credentials; "
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )
    return session_credentials
