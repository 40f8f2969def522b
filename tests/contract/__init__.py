"""Tests that every store passes."""
