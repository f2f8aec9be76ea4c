"""A service that can be embedded can be configured too, and is deployed."""

import pytest
import yaml

from infra.launcher import configured
from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT
from infra.services import SERVICE_VARIABLES


@pytest.mark.parametrize("variable", SERVICE_VARIABLES)
def test_a_configured_service_is_tried_before_the_start(variable: str) -> None:
    with pytest.raises(LaunchError, match=f"{variable} is set, but"):
        configured.check({variable: "nowhere://127.0.0.1:1/0"})


@pytest.mark.parametrize("variable", SERVICE_VARIABLES)
def test_compose_says_where_the_service_is(variable: str) -> None:
    compose = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text())
    assert variable in compose["x-product"]["environment"]
