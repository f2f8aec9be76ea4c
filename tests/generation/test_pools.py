"""infra/pools.toml: what it says, and what is said about mistakes in it."""

from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from backend.generation.pools.config import PoolsError, read_pools
from backend.platform.errors import ModelNotFound
from inference.cli import _parser
from inference.server.schemas import ChatRequest
from infra.launcher.model_spec import DEFAULT, read_spec
from infra.launcher.procfile import ROOT

GOOD = """
[[model]]
id = "m"
aliases = ["auto"]
context_window = 100
max_output_tokens = 50
capabilities = ["chat"]
price_per_1k = { input = "0.1", cached_input = "0.05", output = "0.2" }
[[model.replica]]
name = "a"
url = "${URL:-http://127.0.0.1:1}"
api_key = "${KEY:-}"
"""


def pools_in(tmp_path: Path, text: str, **environment: str) -> object:
    path = tmp_path / "pools.toml"
    path.write_text(text)
    return read_pools(path, environment)


def test_shipped_pools_file_is_valid() -> None:
    pools = read_pools(
        ROOT / "infra" / "pools.toml", {"PARLEY_ENGINE_URL": "http://127.0.0.1:8001"}
    )
    assert pools.find("auto") is pools.find("smollm2-135m")
    with pytest.raises(ModelNotFound, match="gpt"):
        pools.find("gpt")


def test_counts_are_integers_as_engines_want_them(tmp_path: Path) -> None:
    text = GOOD.replace(
        "[[model.replica]]", "sampling = { top_k = 20, top_p = 1 }\n[[model.replica]]"
    )
    [pool] = pools_in(tmp_path, text).models  # type: ignore[attr-defined]
    assert repr(pool.sampling["top_k"]) == "20"


def test_better_model_is_described_for_the_engine_that_serves_it() -> None:
    """What infra/models says of it is what its pools file says, and the engine takes all of it."""
    spec = read_spec(DEFAULT)
    [pool] = read_pools(spec.pools, {"PARLEY_ENGINE_URL": "http://127.0.0.1:8001"}).models
    assert (pool.id, pool.license, pool.notice) == (spec.id, spec.license, spec.notice)
    assert "Version 2.0, January 2004" in spec.license_text
    body = {"messages": [{"role": "user", "content": "Hi"}], **pool.sampling}
    msgspec.convert(body, ChatRequest)
    parser = _parser()
    parser.parse_args(["serve", "--model", "x", *spec.engine_options])


def test_variables_are_read_from_the_environment(tmp_path: Path) -> None:
    pools = pools_in(tmp_path, GOOD, URL="https://engine:8443", KEY="secret")
    [pool] = pools.models  # type: ignore[attr-defined]
    assert pool.replicas[0].url == "https://engine:8443"
    assert pool.replicas[0].api_key == "secret"
    assert "secret" not in repr(pool)
    assert pool.price_per_1k["input"] == Decimal("0.1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("${URL:-http://127.0.0.1:1}", "${URL}"), r"\$\{URL\}, which is not set"),
        (("${URL:-http://127.0.0.1:1}", "ftp://x"), "url must be http"),
        (
            ("context_window = 100", "context_window = 0"),
            "`int` >= 1 - at model 'm' context_window",
        ),
        (
            ("context_window = 100", 'context_window = "x"'),
            "got `str` - at model 'm' context_window",
        ),
        (
            ('input = "0.1"', "input = 0.1"),
            r"Expected `str \| null`, got `float` - at model 'm' price_per_1k.input",
        ),
        (('input = "0.1"', 'input = "-1"'), "model 'm' price_per_1k.input"),
        (
            ("[[model]]", "[[model]]\nsampling = { heat = 1 }"),
            "'heat' - at `key` in model 'm' sampling",
        ),
        (
            ("[[model]]", '[[model]]\nsampling = { top_p = "all" }'),
            "got `str` - at model 'm' sampling",
        ),
        (("context_window", "contextwindow"), "unknown field `contextwindow` - at model 'm'"),
        (('aliases = ["auto"]', 'aliases = ["m"]'), "used by two models"),
        (
            ('capabilities = ["chat"]', 'dialect = "x"'),
            "Invalid enum value 'x' - at model 'm' dialect",
        ),
        (
            ('capabilities = ["chat"]', 'routing = "x"'),
            "must be one of affinity, least_loaded, pre",
        ),
        (("[[model]]", "[[model"), "is not TOML"),
        (("[[model]]", "[[models]]"), "missing required field `model`|unknown field `models`"),
    ],
)
def test_invalid_field_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(PoolsError, match=message):
        pools_in(tmp_path, GOOD.replace(*change))
