"""Whether a job is what was committed: damage found, levels made again, parts repaired.

It uses the passes of :mod:`pipeline.level`, and writes to a job only where it repairs.
"""
