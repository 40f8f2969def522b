"""Fingerprints of texts: normalisation, tokens, sketches, keys, and the schemes that join them."""
