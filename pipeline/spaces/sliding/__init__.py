"""Sliding-tile puzzles of up to 16 cells, the fifteen puzzle among them."""
