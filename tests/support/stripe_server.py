"""A server that speaks Stripe's HTTP API, as far as the product asks it: for tests, on a free port.

It refuses what Stripe refuses (`stripe_rules`), keeps idempotency keys as Stripe does (the same key
gives the same object, with other parameters an error), counts what it was asked, and signs events.
The signature is computed here by Stripe's description (https://docs.stripe.com/webhooks/signature),
not by Stripe's package.
"""

import hashlib
import hmac
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from tests.support.stripe_rules import PARAMETERS, error, refusal

SECRET_KEY, WEBHOOK_SECRET = "sk_test_parley", "whsec_test_parley"
CARD = "pm_visa"
_IDS = re.compile("/(seti|pm)_[^/]+")


class StripeServer:
    """Attributes:
    objects: what was made, by id.
    asked: (method, path) of every request.
    decline: whether charges are refused, as a card without money.
    fails: whether every request is answered 500.
    loses_answers: whether what is made is answered 500 all the same.
    cards: the payment methods that there are.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.asked: list[tuple[str, str]] = []
        self.decline = self.fails = self.loses_answers = False
        self.cards = {CARD}
        self._declined: list[dict[str, Any]] = []
        self._by_key: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
        self._lock = threading.Lock()
        stripe = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                form = dict(parse_qsl(self.rfile.read(size).decode(), keep_blank_values=True))
                self._answer(*stripe._post(self.path, form, self.headers))

            def do_GET(self) -> None:
                self._answer(*stripe._get(self.path, self.headers))

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def made(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in self.objects.values() if each["object"] == kind]

    def paid(self, session: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """`session` as Stripe says it once the customer has paid, or given a card."""
        if session["mode"] == "setup":
            return {**session, "setup_intent": "seti_1", "status": "complete"}
        amount = int(session["form"]["line_items[0][price_data][unit_amount]"])
        return {
            **session,
            "payment_status": "paid",
            "amount_total": amount,
            "currency": session["form"]["line_items[0][price_data][currency]"],
            "payment_intent": f"pi_of_{session['id']}",
            "metadata": _metadata(session["form"]),
            **changes,
        }

    def intent_of(self, session: dict[str, Any]) -> dict[str, Any]:
        """The payment intent of a paid session: Stripe sends an event of its own for it."""
        paid = self.paid(session)
        return {
            "id": paid["payment_intent"],
            "object": "payment_intent",
            "amount_received": paid["amount_total"],
            "currency": paid["currency"],
            "metadata": _metadata(session["form"], "payment_intent_data[metadata]"),
        }

    def _post(self, path: str, form: dict[str, str], headers: Any) -> tuple[int, dict[str, Any]]:
        with self._lock:
            refused = self._refused("POST", path, headers, form)
            if refused is not None:
                return refused
            key = headers.get("Idempotency-Key")
            if key in self._by_key:
                first, made = self._by_key[key]
                if first != form:
                    return error("idempotency_error", "Keys need the same parameters.")
                if self.loses_answers:
                    return 500, _error("api_error", "An error of ours.")
                return 200, made
            status, made = self._make(path, form)
            if status == 200 and key:
                self._by_key[key] = (form, made)
            if self.loses_answers:
                return 500, _error("api_error", "An error of ours.")
            return status, made

    def _get(self, path: str, headers: Any) -> tuple[int, dict[str, Any]]:
        form = dict(parse_qsl(urlsplit(path).query))
        with self._lock:
            refused = self._refused("GET", path, headers, form)
            if refused is not None:
                return refused
            if urlsplit(path).path == "/v1/payment_intents":
                return 200, self._intents(form)
        if urlsplit(path).path.startswith("/v1/setup_intents/"):
            card = {"brand": "visa", "last4": "4242"}
            method = {"id": CARD, "object": "payment_method", "type": "card", "card": card}
            return 200, {"id": "seti_1", "object": "setup_intent", "payment_method": method}
        return 404, _error("invalid_request_error", "No such object.")

    def _refused(
        self, method: str, path: str, headers: Any, form: dict[str, str]
    ) -> tuple[int, dict[str, Any]] | None:
        path = urlsplit(path).path
        self.asked.append((method, path))
        if headers.get("Authorization") != f"Bearer {SECRET_KEY}":
            return 401, _error("invalid_request_error", "Invalid API Key provided.")
        if self.fails:
            return 500, _error("api_error", "An error of ours.")
        endpoint = f"{method} {_IDS.sub('/*', path)}"
        if endpoint not in PARAMETERS:
            return 404, _error("invalid_request_error", f"Unrecognized request URL {path}.")
        card = form.get("payment_method", CARD)
        if card not in self.cards:
            message = f"No such PaymentMethod: '{card}'"
            return error("invalid_request_error", message, code="resource_missing")
        return refusal(endpoint, form, headers.get("Stripe-Version"))

    def _intents(self, form: dict[str, str]) -> dict[str, Any]:
        """A customer's, the newest first."""
        made = [*self.made("payment_intent"), *self._declined]
        data = [
            each
            for each in reversed(made)
            if each["customer"] == form["customer"] and each["created"] >= int(form["created[gte]"])
        ]
        return {"object": "list", "url": "/v1/payment_intents", "has_more": False, "data": data}

    def _make(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        kinds = {
            "/v1/customers": ("cus", "customer"),
            "/v1/checkout/sessions": ("cs", "checkout.session"),
            "/v1/payment_intents": ("pi", "payment_intent"),
        }
        if path.endswith("/detach"):
            return 200, {"id": CARD, "object": "payment_method"}
        prefix, kind = kinds[path]
        made: dict[str, Any] = {"id": f"{prefix}_{uuid4().hex}", "object": kind, "form": form}
        if kind == "checkout.session":
            made |= {"mode": form["mode"], "customer": form["customer"]}
            made |= {"url": f"{self.url}/pay/{made['id']}", "payment_status": "unpaid"}
        if kind == "payment_intent":
            made |= {"status": "succeeded", "metadata": _metadata(form)}
            made |= {"customer": form["customer"], "created": int(time.time())}
            made |= {"last_payment_error": None}
            if self.decline:
                declined = _error("card_error", "Your card has insufficient funds.")
                intent = {**made, "status": "requires_payment_method"}
                self._declined.append({**intent, "last_payment_error": declined["error"]})
                more = {"code": "card_declined", "payment_intent": intent}
                return 402, {"error": {**declined["error"], **more}}
        self.objects[made["id"]] = made
        return 200, made


def event(kind: str, about: dict[str, Any], *, event_id: str | None = None) -> bytes:
    """The body of an event of Stripe."""
    body = {"id": event_id or f"evt_{uuid4().hex}", "object": "event", "type": kind}
    return json.dumps({**body, "data": {"object": about}}).encode()


def signature(body: bytes, *, secret: str = WEBHOOK_SECRET, at: float | None = None) -> str:
    """`Stripe-Signature` of a body."""
    moment = int(time.time() if at is None else at)
    signed = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={signed.hexdigest()}"


def _metadata(form: dict[str, str], name: str = "metadata") -> dict[str, str]:
    prefix = f"{name}["
    return {k[len(prefix) : -1]: v for k, v in form.items() if k.startswith(prefix)}


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"type": kind, "message": message}}
