"""Many tries in another organization's name, and whether any shows or changes the victim's.

A leak is: the victim's text (a canary that nobody else was told) in an answer; an answer that is
no refusal where the path names something of the victim's; a row of the victim's that is another
afterwards, or gone, or new.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.support.product import Product
from tests.tenancy.belongings import Belongings
from tests.tenancy.cast import Cast
from tests.tenancy.routes import BEFORE_SIGNING_IN, PUBLIC
from tests.tenancy.tries import Route, Tries, Try, routes_of

# Columns that tell when something was last used or looked at, and what is not the victim's to lose.
_VOLATILE = {"last_used_at", "last_seen_at", "last_login", "expire_date", "session_data"}
# Codes of answers where the model failed: it is synthetic, and cannot do all that routes ask for.
_OF_THE_MODEL = ('"upstream_failed"', '"overloaded"')
_LEAST_ID = 16  # of an id that nobody has by chance
_IGNORED_TABLES = {"django_session", "usersessions_usersession"}


@dataclass(slots=True)
class Report:
    """What came of a walk.

    Attributes:
        routes: how often each was tried.
        statuses: how often each was answered.
        leaks: what crossed, each with the request.
        failures: answers of 5xx, each with the request.
        renewed: how often the callers had ended their own accounts, and were made anew.
    """

    seed: int
    routes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    renewed: int = 0

    @property
    def tries(self) -> int:
        return self.routes.total()

    def __str__(self) -> str:
        statuses = ", ".join(
            f"{status}: {count}" for status, count in sorted(self.statuses.items())
        )
        lines = [
            f"seed {self.seed}: {self.tries} tries of {len(self.routes)} routes "
            f"(each {min(self.routes.values())} to {max(self.routes.values())} times), "
            f"callers renewed {self.renewed} times",
            f"answers: {statuses}",
            f"{len(self.leaks)} leaks, {len(self.failures)} answers of 5xx",
            *(f"LEAK {leak}" for leak in self.leaks[:50]),
            *(f"5xx {failure}" for failure in self.failures[:50]),
        ]
        return "\n".join(lines)


def walk(
    product: Product,
    victim: Belongings,
    canary: str,
    cast: Callable[[], Cast],
    *,
    tries: int,
    seed: int,
    routes: Iterable[Route] | None = None,
) -> Report:
    """Send so many random requests, every route in turn, every caller by chance.

    Args:
        canary: what every text of the victim's holds, and nothing else.
        cast: makes the callers; again, when they have ended their own accounts.
        routes: of the schema; None: all.
    """
    report, random = Report(seed), Random(seed)
    document = httpx.get(f"{product.url}/openapi.json").json()
    chosen = list(routes_of(document) if routes is None else routes)
    before = rows_of(product, victim, canary)
    stored = {str(row["id"]) for rows in before.values() for row in rows if "id" in row}
    more = sorted(each for each in stored if len(each) >= _LEAST_ID)
    foreign = {name: str(value) for name, value in victim.ids.items()}
    callers = cast()
    requests = Tries(document, random, foreign, more, _texts(callers.own.ids))
    for number in range(tries):
        if number % len(chosen) == 0:
            random.shuffle(chosen)
        route = chosen[number % len(chosen)]
        caller = callers.chosen(random, route.path)
        made = requests.new(route)
        answer = caller.client.request(made.route.method, made.url, **made.options())
        report.routes[made.route.name] += 1
        report.statuses[answer.status_code] += 1
        _judge(report, caller.name, made, answer, canary)
        if _may_have_ended(caller.name, made, answer) and not caller.is_known:
            callers.close()
            callers = _again(cast)
            requests.own = _texts(callers.own.ids)
            report.renewed += 1
        if (number + 1) % 1000 == 0:
            print(f"{number + 1} tries, {len(report.leaks)} leaks so far", flush=True)
    callers.close()
    report.leaks += differences(before, rows_of(product, victim, canary))
    return report


def _again(cast: Callable[[], Cast]) -> Cast:
    """New callers; what the walk has asked for may have the model pause, or meet a limit, for some
    seconds."""
    for _ in range(12):
        with suppress(AssertionError, KeyError):
            return cast()
        time.sleep(5)
    return cast()


def _may_have_ended(caller: str, made: Try, answer: httpx.Response) -> bool:
    """Whether the caller may no longer be who they were."""
    changed = answer.is_success and made.route.method != "GET"
    return caller != "nobody" and (changed or answer.status_code == 401)


def _texts(ids: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in ids.items()}


def _judge(report: Report, caller: str, made: Try, answer: httpx.Response, canary: str) -> None:
    what = f"{caller}: {made} -> {answer.status_code}"
    if canary in answer.text.lower() or canary in str(answer.headers).lower():
        report.leaks.append(f"text of the victim's: {what}: {answer.text[:500]}")
    route = (made.route.method, made.route.path)
    is_open = route in PUBLIC or route in BEFORE_SIGNING_IN
    if made.is_foreign and answer.is_success and not is_open:
        report.leaks.append(f"no refusal: {what}: {answer.text[:500]}")
    if answer.status_code >= 500 and not any(code in answer.text for code in _OF_THE_MODEL):
        report.failures.append(f"{what}: {answer.text[:300]}")


def rows_of(product: Product, victim: Belongings, canary: str) -> dict[str, list[dict[str, Any]]]:
    """By table, every row that is of the victim's organization or people, or holds the canary."""
    members = product.rows(
        "SELECT user_id FROM accounts_membership WHERE organization_id = %s",
        [victim.owner.organization_id],
    )
    subjects = {victim.owner.organization_id, *(str(member["user_id"]) for member in members)}
    names = "|".join([*subjects, canary])
    found = {}
    for table in _tables(product):
        rows = product.rows(
            f"SELECT row_to_json(t)::jsonb AS row FROM {table} t WHERE row_to_json(t)::text ~* %s",
            [names],
        )
        found[table] = [
            {name: value for name, value in row["row"].items() if name not in _VOLATILE}
            for row in rows
            if _is_of(row["row"], subjects, canary)
        ]
    return found


def _is_of(row: dict[str, Any], subjects: set[str], canary: str) -> bool:
    """Others may write an id of the victim's into a text of their own, such as a tax id."""
    names = {name for name in row if name == "id" or name.endswith("_id")} - {"tax_id"}
    ids = {str(row[name]) for name in names}
    return bool(ids & subjects) or canary in str(row).lower()


def _tables(product: Product) -> list[str]:
    named = product.rows(
        "SELECT quote_ident(table_name) AS name FROM information_schema.tables "
        "WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1"
    )
    return [row["name"] for row in named if row["name"] not in _IGNORED_TABLES]


def differences(
    before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]]
) -> list[str]:
    """Rows that were not there before, or are no longer."""
    found = []
    for table, rows in before.items():
        old, new = (sorted(map(repr, each)) for each in (rows, after[table]))
        if old != new:
            gone, added = set(old) - set(new), set(new) - set(old)
            found += [f"row of {table} gone: {row[:600]}" for row in sorted(gone)]
            found += [f"row of {table} new: {row[:600]}" for row in sorted(added)]
    return found
