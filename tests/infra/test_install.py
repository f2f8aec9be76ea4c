"""Packages come from where pip would take them."""

from infra.install import configuration

CONFIG = """\
:env:.find-links='/wheels /more wheels'
global.cert='/certificates.pem'
global.disable-pip-version-check='1'
global.extra-index-url='https://one.example/simple https://two.example/simple'
global.find-links='/forgotten'
global.index-url='https://own.example/simple'
install.constraint='/limits.txt'
"""


def options_of(config: str) -> dict[str, list[str]]:
    """The values of each option, in their order."""
    options, _ = configuration(config)
    found: dict[str, list[str]] = {}
    for option, value in zip(options[::2], options[1::2], strict=True):
        found.setdefault(option, []).append(value)
    return found


def test_places_of_pips_configuration_are_named_to_uv() -> None:
    assert options_of(CONFIG) == {
        "--index-strategy": ["unsafe-best-match"],
        "--default-index": ["https://own.example/simple"],
        "--index": ["https://one.example/simple", "https://two.example/simple"],
        "--find-links": ["/wheels", "/more", "wheels"],
        "--constraint": ["/limits.txt"],
    }
    assert configuration(CONFIG)[1] == {"SSL_CERT_FILE": "/certificates.pem"}


def test_nothing_is_named_where_pip_has_no_configuration() -> None:
    assert configuration("") == (["--index-strategy", "unsafe-best-match"], {})


def test_installation_without_an_index_stays_without_one() -> None:
    options, _ = configuration("global.no-index='true'\nglobal.find-links='/wheels'")
    assert options[2:] == ["--find-links", "/wheels", "--no-index"]
