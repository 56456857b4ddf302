"""One process writes to a directory at a time."""
