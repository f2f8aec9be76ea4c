"""What must agree once all is quiet, from the client's screen to the invoice's cent.

Nothing of billing's code takes part: rows by SQL, documents over HTTP, sums by this file.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from infra.load.upstream import Served, words
from tests.chaos.money.customers import Customer, Receipt
from tests.chaos.reader import Wire
from tests.support.launched import LaunchedProduct
from tests.support.product import Product

PRICES = {"input": Decimal("0.37"), "output": Decimal("1.13")}
"""Per 1,000 tokens, odd on purpose; the upstream has no prefix cache."""
TAX_RATE = Decimal("0.19")

_COLUMNS = (
    "occurred_at, organization_id, project_id, user_id, key_id, model, pool, input_tokens,"
    " cached_input_tokens, output_tokens, state, ttft_ms, duration_ms, client_hash"
)
_TOKENS = "sum(input_tokens)::int AS input, sum(output_tokens)::int AS output"


@dataclass(frozen=True)
class Generation:
    """A generation and what the ledger says of it."""

    id: UUID
    request_id: str
    organization_id: UUID
    state: str
    input: int
    output: int
    billed_input: int | None
    billed_output: int | None


def generations(product: Product) -> dict[UUID, Generation]:
    rows = product.rows(
        "SELECT g.id, g.request_id, g.organization_id, g.state, g.input_tokens AS input,"
        " g.output_tokens AS output, u.input_tokens AS billed_input,"
        " u.output_tokens AS billed_output"
        " FROM generation_generation g LEFT JOIN billing_usagerecord u ON u.generation_id = g.id"
    )
    return {row["id"]: Generation(**row) for row in rows}


def check_ledger(product: Product) -> dict[UUID, Generation]:
    """Each generation has ended, with one record that says what its row says; no strangers."""
    found = generations(product)
    for each in found.values():
        assert each.state in {"completed", "cancelled", "blocked", "failed"}, each
        assert (each.billed_input, each.billed_output) == (each.input, each.output), each
        assert each.state != "blocked" or (each.input, each.output) == (0, 0), each
    [records] = product.rows("SELECT count(*) AS count FROM billing_usagerecord")
    assert records["count"] == len(found)
    return found


def check_delivered(wire: Wire, generation: Generation) -> None:
    """What is kept of the stream is what was billed, word for word."""
    wire.check()
    assert len(wire.text.split()) == generation.billed_output, generation
    assert wire.text == words(0, len(wire.text.split()))
    assert (wire.error is not None) == (generation.state == "failed"), generation


def check_receipt(receipt: Receipt, generation: Generation, delivered: Wire) -> None:
    """The client saw the stream as it is kept, or, where it left, its beginning."""
    order, seen = receipt.order, receipt.wire.events
    if order.manner == "whole":
        assert receipt.text == delivered.text
    else:
        assert seen == delivered.events[: len(seen)]
        assert order.manner == "leaves" or receipt.wire.done
    if receipt.reported_usage is not None:
        assert receipt.reported_usage == (generation.billed_input, generation.billed_output)
    if generation.state == "completed":
        assert generation.billed_output == order.tokens, (order, generation)


def check_upstream(served: Sequence[Served], found: Iterable[Generation]) -> int:
    """Nothing was billed that the upstream did not count out; where nothing came between,
    exactly that. Returns how many generations took more than one attempt."""
    attempts: dict[str, list[Served]] = defaultdict(list)
    for each in served:
        attempts[each.headers["x-request-id"]].append(each)
    continued = 0
    for generation in found:
        mine = attempts.get(f"{generation.request_id}-0", [])  # its first and only choice
        if not mine:
            assert generation.billed_output == 0, generation
            continue
        counted = max(_already(each) + each.sent for each in mine)
        assert generation.billed_output is not None
        assert generation.billed_output <= counted, generation
        if len(mine) == 1 and generation.state == "completed":
            assert generation.billed_output == counted, generation
        if generation.billed_output:
            assert generation.billed_input == _prompt_tokens(mine[0]), generation
        continued += len(mine) > 1
    return continued


def check_derived(product: Product | LaunchedProduct) -> None:
    """Event store and rollups are the ledger's, row by row and sum by sum."""
    difference = (
        "SELECT count(*) AS count FROM ((SELECT {left} EXCEPT ALL SELECT {right})"
        " UNION ALL (SELECT {right} EXCEPT ALL SELECT {left})) AS difference"
    )
    ledger = f"generation_id, {_COLUMNS} FROM billing_usagerecord"
    events = f"event_id, {_COLUMNS} FROM billing_usageevent"
    by = "organization_id, project_id, user_id, key_id, model"
    summed = (
        f"date_trunc('hour', occurred_at, 'UTC'), {by}, count(*), sum(input_tokens),"
        f" sum(output_tokens) FROM billing_usagerecord GROUP BY 1, {by}"
    )
    rollups = f"hour, {by}, requests, input_tokens, output_tokens FROM billing_usagerollup"
    for left, right in ((ledger, events), (summed, rollups)):
        [row] = product.rows(difference.format(left=left, right=right))
        assert row["count"] == 0, f"{row['count']} rows differ between {left} and {right}"


def check_invoices(product: Product, customers: Sequence[Customer]) -> None:
    """Each customer's usage page and invoice say what the ledger says, to the cent."""
    for customer in customers:
        [used] = product.rows(
            f"SELECT {_TOKENS} FROM billing_usagerecord WHERE organization_id = %s",
            [customer.organization_id],
        )
        exact = (used["input"] * PRICES["input"] + used["output"] * PRICES["output"]) / 1000
        usage = customer.get("/api/usage?period=last_30_days&group_by=model")
        assert (usage["input_tokens"], usage["output_tokens"]) == (used["input"], used["output"])
        assert (Decimal(usage["cost"]), usage["currency"]) == (exact, "USD")
        [invoice] = customer.get("/api/invoices")["data"]
        lines = customer.get(f"/api/invoices/{invoice['id']}")["lines"]
        assert sum(line["input_tokens"] for line in lines) == used["input"]
        assert sum(line["output_tokens"] for line in lines) == used["output"]
        assert sum(Decimal(line["amount"]) for line in lines) == exact
        subtotal = _cents(exact)
        tax = _cents(subtotal * TAX_RATE)
        expected = [subtotal, tax, subtotal + tax]
        assert [Decimal(invoice[name]) for name in ("subtotal", "tax", "total")] == expected


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def _already(served: Served) -> int:
    """Tokens of the answer that the upstream was given to continue."""
    if not served.body.get("continue_final_message"):
        return 0
    return len(str(served.body["messages"][-1]["content"]).split())


def _prompt_tokens(served: Served) -> int:
    messages: list[dict[str, Any]] = served.body["messages"]
    return sum(len(str(message["content"]).split()) for message in messages)
