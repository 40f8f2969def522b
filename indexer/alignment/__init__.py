"""What two texts share and where they differ, word by word: greedy string tiling, over suffixes too, and edits."""
