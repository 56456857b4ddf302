"""Sorted keys on disk: the codec, arrays and their chunks, spill files. It knows no job."""
