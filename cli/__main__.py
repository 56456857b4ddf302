"""``python -m cli`` is the same as ``pipeline``."""

from cli.main import entry

entry()
