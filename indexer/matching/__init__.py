"""The pairs of a store: of likely and of all texts, of texts that contain others, what an audit
finds missing.
"""
