"""Puzzles made of permutations: Cayley graphs, and orbits of words (Schreier graphs)."""
