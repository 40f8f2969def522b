"""Fifty documents in fifteen languages, each as html, docx, odt, rtf, pdf, eml and txt, and a
look-alike of every one.

The prose is the project's own: sentences put together from the phrases in `languages/`. The same
call makes the same words under every Python. `python -m corpus FOLDER`, run in the folder `tests`,
writes all files.
"""
