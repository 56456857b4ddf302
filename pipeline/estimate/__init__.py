"""What a search will take, before it is run: states, disk, memory and time.

A short search of the same state space in a temporary directory (:mod:`~pipeline.estimate.trial`), or the levels that a
job has already, give the figures of a key; known counts give the levels to come (:mod:`~pipeline.estimate.growth`), and
what is not known is extrapolated and marked so. Imports the search and :mod:`pipeline.bench`; changes no job.
"""
