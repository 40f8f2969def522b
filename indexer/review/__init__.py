"""The review site: pages, their API, originals, exports and reports."""
