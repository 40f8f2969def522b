"""The files of documents, saved and shown safely next to their texts."""
