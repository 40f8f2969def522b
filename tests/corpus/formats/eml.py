"""A mail: every other document as plain text alone, the rest as plain text and a web page to choose
from.
"""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

from corpus.documents import Document
from corpus.formats import html, txt


def content(document: Document) -> bytes:
    """Headers in ASCII by encoded words, the body as the library chooses to encode it for
    transport.
    """
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = document.title
    mail["From"] = "office@example.org"
    mail["To"] = "households@example.org"
    mail["Date"] = "Mon, 4 Mar 2024 09:30:00 +0100"
    mail["Message-ID"] = f"<{document.name}@example.org>"
    mail.set_content(txt.text(document))
    if int(document.name[3]) % 2:
        mail.add_alternative(html.text(document), subtype="html")
    return mail.as_bytes()
