"""One module per command; each has its click command under the name ``command``."""
