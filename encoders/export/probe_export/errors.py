"""The one exception that reaches the user."""


class ExportError(Exception):
    """Says in one line where, what was required, and what came."""
