"""The census of snakes that cannot be unfolded: a search that never enumerates the ordinary shapes."""
