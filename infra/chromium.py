"""The browser of the end-to-end tests: the system's Chromium, in its smallest form."""

import os
import shutil

from infra.debian import install_one_of
from infra.launcher.errors import LaunchError

# Without a window to draw, the headless shell takes a third of the processor time.
_PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# Of Debian; the first that the release has.
_PACKAGES = ("chromium-headless-shell", "chromium")


def chromium_path() -> str | None:
    """The program that `PARLEY_CHROMIUM` names, or the first in the PATH; None without any."""
    named = os.environ.get("PARLEY_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _PROGRAMS)), None)


def ensure_chromium() -> None:
    """On Debian, as root, it is installed where there is none.

    Raises:
        LaunchError: there is none and it cannot be installed here.
    """
    if chromium_path():
        return
    install_one_of("Chromium", _PACKAGES)
    if not chromium_path():
        raise LaunchError(
            "The browser tests need Chromium: install it (on Debian: apt-get install chromium), "
            "or name its program in PARLEY_CHROMIUM."
        )
