"""What a finished search tells: where a state is, shortest paths, the hardest states.

It reads jobs and asks state spaces; only meeting from both ends makes levels, in a job of its own that goes away.
"""
