"""Two documents side by side, or a chain of versions: what they share, what differs, and how a
reader sees it.
"""
