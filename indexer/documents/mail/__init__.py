"""Mails: their fields, text and attachments, the quotes in them, and their threads."""
