"""Images of pages, to be looked at: no test judges them, and each costs as much as a click."""

import os
from pathlib import Path

from playwright.sync_api import Page


def keep_image(page: Page, name: str) -> None:
    """Take one of the whole page, as `<test's module>-<name>.png`, where PARLEY_SCREENSHOTS names a
    folder."""
    if folder := os.environ.get("PARLEY_SCREENSHOTS"):
        module = Path(os.environ["PYTEST_CURRENT_TEST"].split("::")[0]).stem.removeprefix("test_")
        page.screenshot(path=Path(folder) / f"{module}-{name}.png", full_page=True)
