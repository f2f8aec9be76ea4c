"""What Stripe refuses of a request, as far as the product asks: a rule for each kind of refusal.

Source: Stripe's API reference (https://docs.stripe.com/api) for parameters,
https://docs.stripe.com/error-codes for codes, https://docs.stripe.com/currencies for amounts.
Written beside the product's own tables, not from them. `tests/billing/test_stripe_mock.py` holds
the parameters against Stripe's own description.
"""

import re
from collections.abc import Mapping
from typing import Any

# Parameters by endpoint; `*` stands for a key of metadata. A required one begins with "!".
PARAMETERS: dict[str, tuple[str, ...]] = {
    "POST /v1/customers": ("name", "email", "metadata[*]"),
    "POST /v1/checkout/sessions": (
        "mode", "customer", "currency", "client_reference_id", "success_url", "cancel_url",
        "metadata[*]", "payment_intent_data[metadata][*]", "line_items[0][quantity]",
        "line_items[0][price_data][currency]", "line_items[0][price_data][unit_amount]",
        "line_items[0][price_data][product_data][name]",
    ),
    "POST /v1/payment_intents": (
        "!amount", "!currency", "customer", "payment_method", "confirm", "off_session",
        "metadata[*]",
    ),
    "GET /v1/payment_intents": ("customer", "created[gte]", "limit", "starting_after"),
    "GET /v1/setup_intents/*": ("expand[0]",),
    "POST /v1/payment_methods/*/detach": (),
}  # fmt: skip
_WHOLE = frozenset(("jpy", "krw", "vnd", "mga", "clp", "pyg", "rwf", "xaf", "xof", "xpf"))
_STEPS = dict.fromkeys(("kwd", "bhd", "jod", "omr", "tnd"), 10) | {"ugx": 100, "isk": 100}
_CURRENCIES = {*_WHOLE, *_STEPS, *(
    "usd", "eur", "gbp", "chf", "huf", "twd", "sek", "nok", "dkk", "pln", "czk", "ron", "bgn",
    "cad", "aud", "nzd", "sgd", "hkd", "inr", "brl", "mxn", "thb", "myr", "aed",
)}  # fmt: skip
_MINIMUMS = {
    "usd": 50, "eur": 50, "chf": 50, "gbp": 30, "jpy": 50, "huf": 17500, "sek": 300, "nok": 300,
    "dkk": 250, "czk": 1500, "pln": 200, "mxn": 1000, "kwd": 200, "ugx": 200000, "vnd": 13000,
}  # fmt: skip
"""Those that Stripe names, and of some others about half a US dollar, which it converts."""
_MAXIMUM = 99_999_999
_VERSION = re.compile(r"20\d\d-\d\d-\d\d(\.[a-z]+)?")

Refusal = tuple[int, dict[str, Any]]


def refusal(endpoint: str, form: Mapping[str, str], version: str | None) -> Refusal | None:
    """Why Stripe answers 400, or None.

    Args:
        endpoint: method and path, with `*` for an id.
        version: the header `Stripe-Version`.
    """
    if version is None or not _VERSION.fullmatch(version):
        return error("invalid_request_error", f"Invalid Stripe API version: {version}")
    for name in PARAMETERS[endpoint]:
        if name.startswith("!") and not form.get(name[1:]):
            return error(
                "invalid_request_error", f"Missing required param: {name[1:]}.",
                code="parameter_missing", param=name[1:],
            )  # fmt: skip
    known = {name.lstrip("!") for name in PARAMETERS[endpoint]}
    for name in form:
        if name not in known and re.sub(r"\[[^\]]*\]$", "[*]", name) not in known:
            return error(
                "invalid_request_error", f"Received unknown parameter: {name}",
                code="parameter_unknown", param=name,
            )  # fmt: skip
    if endpoint == "POST /v1/payment_intents":
        return _of_amount(form["amount"], form["currency"], "amount")
    if endpoint == "POST /v1/checkout/sessions":
        return _of_session(form)
    return None


def error(kind: str, message: str, **more: Any) -> Refusal:
    return 400, {"error": {"type": kind, "message": message, **more}}


def _of_session(form: Mapping[str, str]) -> Refusal | None:
    if form.get("mode") not in ("setup", "payment"):
        return error("invalid_request_error", "Missing required param: mode.", param="mode")
    if form["mode"] == "setup":
        return _of_currency(form.get("currency", "usd"), "currency")
    item = "line_items[0][price_data]"
    if f"{item}[currency]" not in form:
        message = "`line_items` are required in payment mode."
        return error("invalid_request_error", message, code="parameter_missing")
    name = f"{item}[unit_amount]"
    return _of_amount(form.get(name, ""), form[f"{item}[currency]"], name)


def _of_currency(currency: str, param: str) -> Refusal | None:
    if currency in _CURRENCIES:
        return None
    return error("invalid_request_error", f"Invalid currency: {currency}.", param=param)


def _of_amount(text: str, currency: str, param: str) -> Refusal | None:
    refused = _of_currency(currency, "currency")
    if refused is not None:
        return refused
    if not re.fullmatch(r"\d+", text) or not int(text):
        message = f"Invalid positive integer: {text}"
        return error(
            "invalid_request_error", message, code="parameter_invalid_integer", param=param
        )
    amount = int(text)
    if amount % _STEPS.get(currency, 1):
        message = f"Amounts in {currency} must be a multiple of {_STEPS[currency]}"
        return error("invalid_request_error", message, param=param)
    least = _MINIMUMS.get(currency, 1 if currency in _WHOLE else 50)
    if amount < least:
        message = f"Amount must convert to at least 50 cents: {amount} {currency}."
        return error("invalid_request_error", message, code="amount_too_small", param=param)
    if amount > _MAXIMUM:
        message = f"Amount must be no more than {_MAXIMUM} {currency}."
        return error("invalid_request_error", message, code="amount_too_large", param=param)
    return None
