"""Why the product cannot be started: one sentence for a person, never a traceback."""


class LaunchError(Exception):
    """A step of `manage.py up` failed; the message says what to do."""


def excerpt(output: str, *, lines: int = 10) -> str:
    """The beginning and the end of a command's output, indented: the reason is in one of them."""
    found = [line for line in output.splitlines() if line.strip()]
    if len(found) > 2 * lines:
        found = [*found[:lines], "…", *found[-lines:]]
    return "\n".join(f"    {line}" for line in found)
