"""Services that are configured from outside: reachable, or a clear sentence.

A configured URL is never shadowed by an embedded server, so a wrong one must be said at once
and not after a minute of retries in six processes.
"""

from collections.abc import Mapping

from infra.launcher.errors import LaunchError
from infra.services.bundle import SERVICES
from infra.services.errors import UnusableURLError


def check(environment: Mapping[str, str]) -> None:
    """Try each service that `environment` configures.

    Raises:
        LaunchError: one cannot be reached; the message names the variable, never a password.
    """
    for service in SERVICES:
        if not (url := environment.get(service.variable)):
            continue
        try:
            service.try_url(url)
        except UnusableURLError as error:
            raise LaunchError(
                f"{service.variable} is set, but {error}: "
                "correct it, or unset it to run an embedded service."
            ) from None
