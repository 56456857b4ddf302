"""What is searched: the contract of a state space, guards against puzzles that break it, and the puzzles.

A state space is arrays in, arrays out. It may import the errors, the sizes and the compiler of kernels of the storage,
and knows neither disk nor scheduler.
"""
