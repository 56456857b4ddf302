"""One process writes to a directory at a time. It may touch files and processes, and knows neither keys nor jobs."""
