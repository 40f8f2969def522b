"""How signatures spread a collection: the study of Roegiest & Lee (SIGIR 2019), repeated on any
documents.
"""
