"""Why the product cannot be started: one sentence for a person, never a traceback."""


class LaunchError(Exception):
    """A step of `manage.py up` failed; the message says what to do."""
