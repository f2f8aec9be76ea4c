"""What every CSV export has in common."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """Text as a spreadsheet shows it: a name that a customer chose must not run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
