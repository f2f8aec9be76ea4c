"""A service that can be embedded can be configured too, and is installed, asked, deployed and
documented: each test names a place that a new one was not entered in."""

import re
import tomllib

import pytest
import yaml

from backend.api import health
from infra.launcher import configured
from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT
from infra.services.bundle import SERVICE_VARIABLES, SERVICES
from infra.services.documented import PAGE, with_rows
from infra.services.process import Service

every_service = pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)


@pytest.mark.parametrize("variable", SERVICE_VARIABLES)
def test_configured_service_is_tried_before_the_start(variable: str) -> None:
    with pytest.raises(LaunchError, match=f"{variable} is set, but"):
        configured.check({variable: "nowhere://127.0.0.1:1/0"})


@pytest.mark.parametrize("variable", SERVICE_VARIABLES)
def test_compose_says_where_the_service_is(variable: str) -> None:
    compose = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text())
    assert variable in compose["x-product"]["environment"]


@every_service
def test_wheel_is_installed_and_pinned(service: type[Service]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    embedded = extras["optional-dependencies"]["embedded"]
    assert service.wheel in embedded, f"{service.wheel} is not in pyproject.toml, 'embedded'"
    pins = (ROOT / "constraints.txt").read_text()
    assert re.search(rf"^{re.escape(service.wheel)}==", pins, re.MULTILINE), "constraints.txt"


@every_service
def test_readiness_asks_for_the_service(service: type[Service]) -> None:
    assert service.check in health.checks(), "not in backend/settings.py, OPTIONAL_SERVICES"


def test_operations_guide_has_the_rows_of_every_service() -> None:
    page = PAGE.read_text()
    assert page == with_rows(page), "run `python -m infra.services.documented`"


@pytest.mark.parametrize("variable", SERVICE_VARIABLES)
def test_image_is_built_with_placeholder_variables(variable: str) -> None:
    """Where the settings insist on the variable, static files could not be collected."""
    dockerfile = (ROOT / "infra" / "Dockerfile").read_text()
    insists = f'env("{variable}")' in (ROOT / "backend" / "settings.py").read_text()
    assert not insists or f"{variable}=" in dockerfile
