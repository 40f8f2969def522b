"""The files of documents, saved and shown safely beside their texts."""
