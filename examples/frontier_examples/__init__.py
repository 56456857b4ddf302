"""Puzzles for frontier-pipeline."""
