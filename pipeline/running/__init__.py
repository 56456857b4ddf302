"""Where and with what a search runs: settings, memory, executors, the events it tells, and where a job came from.

Nothing here knows how a level is made.
"""
