"""The algorithm: how the level after the frontier is made.

:mod:`~pipeline.level.loop` is where to begin: plan, expand, merge, commit. These modules read and write the job through
:mod:`storage`, ask the state space for neighbours, and hand tasks to an executor; they know no puzzle and no cluster.
"""
