"""A price of one project of an organization, and invoice lines that tell it apart."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_request_logs"),
        ("billing", "0026_image_tokens"),
    ]

    operations = [
        migrations.AddField(
            model_name="invoiceline",
            name="at_project_price",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="at the project's price"
            ),
        ),
        migrations.AddField(
            model_name="price",
            name="project",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                help_text="One of the organization's. Empty: all of them.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="own_prices",
                to="accounts.project",
            ),
        ),
        migrations.AddConstraint(
            model_name="price",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("project", None), ("organization__isnull", False), _connector="OR"
                ),
                name="price_project_of_organization",
            ),
        ),
    ]
