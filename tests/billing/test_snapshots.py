"""A sum that takes too long is given up: it keeps no connection, and no thread, from others."""

import psycopg
import pytest
from django.db import OperationalError, connection

from billing import snapshots
from billing.budgets.credit import credit_state
from billing.periods import month_of
from billing.selectors import usage_summary
from tests.billing import factories
from tests.billing.test_month_is_not_scanned import NOON


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["usage", "credit"])
def test_sum_that_waits_too_long_is_given_up(monkeypatch, what):
    monkeypatch.setattr(snapshots, "STATEMENT_TIMEOUT_S", 0.2)
    organization_id = factories.principal().organization_id
    parameters = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    with psycopg.connect(**{name: parameters[name] for name in names}) as other:
        tables = "billing_usagesum, billing_creditentry"
        other.execute(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE".encode())
        with pytest.raises(OperationalError, match="statement timeout"):
            if what == "usage":
                usage_summary(organization_id=organization_id, period=month_of(NOON).name)
            else:
                credit_state(organization_id, at=NOON)
    assert usage_summary(organization_id=organization_id, period=month_of(NOON).name).requests == 0
