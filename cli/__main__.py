"""``python -m cli`` is the same as ``pipeline``."""

from cli.start import entry

entry()
