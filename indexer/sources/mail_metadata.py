"""Names of the metadata by which mails, attachments and custodians are known."""

from __future__ import annotations

PARENT = "parent_id"
"""Of an attachment: the id of its mail."""
CUSTODIAN = "custodian"
"""Of a document: who held it."""
MESSAGE_ID = "message_id"
"""Of a mail: its Message-ID, in angle brackets."""
REFERENCES = "references"
"""Of a mail: the Message-IDs that it refers to, oldest first, by blanks."""
THREAD = "thread"
"""Of a mail: the MIH of the first Message-ID that it refers to, else of its own."""
