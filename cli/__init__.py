"""The command line: parse, call, print. The algorithms are in :mod:`pipeline`."""
