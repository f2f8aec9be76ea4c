"""0001 to 0028 at once, for a database that has none of them; _triggers.py has what triggers do."""

import datetime
import uuid
from decimal import Decimal

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from billing.migrations import _triggers


class Migration(migrations.Migration):
    replaces = [
        ("billing", "0001_initial"),
        ("billing", "0002_append_only"),
        ("billing", "0003_budgets"),
        ("billing", "0004_reconciliation"),
        ("billing", "0005_credit_and_invoices"),
        ("billing", "0006_append_only"),
        ("billing", "0007_webhooks"),
        ("billing", "0008_costs_and_abuse"),
        ("billing", "0009_model_cost_history"),
        ("billing", "0010_void_frees_usage"),
        ("billing", "0011_token_kinds"),
        ("billing", "0012_webhooks_claimed_disabled_encrypted"),
        ("billing", "0013_outbox_partition"),
        ("billing", "0014_unaggregated_usage"),
        ("billing", "0015_list_earlier_usage"),
        ("billing", "0016_token_columns"),
        ("billing", "0017_usage_days"),
        ("billing", "0018_usage_sums"),
        ("billing", "0019_invoice_series"),
        ("billing", "0020_batches"),
        ("billing", "0021_payments"),
        ("billing", "0022_refunds"),
        ("billing", "0023_reasoning_tokens"),
        ("billing", "0024_failed_refunds"),
        ("billing", "0025_seconds_and_characters"),
        ("billing", "0026_image_tokens"),
        ("billing", "0027_project_prices"),
        ("billing", "0028_engine_hours"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0009_request_logs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AbusePolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("spike", "spike against its own history"),
                            ("blocked", "many blocked prompts"),
                            ("shared_address", "many keys from one address"),
                        ],
                        max_length=16,
                        unique=True,
                    ),
                ),
                (
                    "throttle",
                    models.BooleanField(
                        default=False, help_text="Slow the subject down as soon as it is flagged."
                    ),
                ),
                (
                    "requests_per_minute",
                    models.PositiveIntegerField(
                        default=5,
                        help_text="While throttled.",
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "minutes",
                    models.PositiveIntegerField(
                        default=60,
                        help_text="How long it stays throttled.",
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "abuse policies",
            },
        ),
        migrations.CreateModel(
            name="AbuseSeen",
            fields=[
                ("event_id", models.UUIDField(primary_key=True, serialize=False)),
                ("hour", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="BillingAccount",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="billing_account",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                ("currency", models.CharField(default="USD", max_length=3)),
                (
                    "is_prepaid",
                    models.BooleanField(
                        default=False,
                        help_text="Requests are refused once the credit is used up.",
                        verbose_name="prepaid",
                    ),
                ),
                (
                    "tax_rate",
                    models.DecimalField(
                        blank=True,
                        decimal_places=4,
                        help_text="0.19 is 19 %. Empty: the country's rate, else the installation's.",
                        max_digits=6,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "country",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="ISO 3166, such as DE.",
                        max_length=2,
                        validators=[django.core.validators.RegexValidator("^[A-Z]{2}$")],
                    ),
                ),
                ("legal_name", models.CharField(blank=True, max_length=200)),
                ("address", models.TextField(blank=True)),
                ("tax_id", models.CharField(blank=True, max_length=60, verbose_name="tax id")),
                (
                    "email",
                    models.EmailField(
                        blank=True, help_text="Empty: owners and finance members.", max_length=254
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="InvoiceSeries",
            fields=[
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("last", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name_plural": "invoice series",
            },
        ),
        migrations.CreateModel(
            name="PaymentCustomer",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="payment_customer",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                ("customer_id", models.CharField(max_length=100, unique=True)),
                ("method_id", models.CharField(blank=True, max_length=100)),
                (
                    "method_label",
                    models.CharField(
                        blank=True, help_text="Such as Visa ···· 4242.", max_length=100
                    ),
                ),
                ("method_added_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="PaymentEvent",
            fields=[
                ("event_id", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("type", models.CharField(max_length=100)),
                ("effect", models.CharField(help_text="What it changed here.", max_length=200)),
                (
                    "received_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "ordering": ["-received_at"],
            },
        ),
        migrations.CreateModel(
            name="AbuseClient",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("client_hash", models.CharField(max_length=64)),
                ("key_id", models.UUIDField()),
                ("last_seen", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("client_hash", "key_id"), name="abuse_client_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AbuseFlag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("key", "Key"), ("organization", "Organization")], max_length=12
                    ),
                ),
                ("subject_id", models.UUIDField()),
                ("organization_id", models.UUIDField(db_index=True)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("spike", "spike against its own history"),
                            ("blocked", "many blocked prompts"),
                            ("shared_address", "many keys from one address"),
                        ],
                        max_length=16,
                    ),
                ),
                ("score", models.FloatField(help_text="1 is the threshold.")),
                ("details", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("confirmed", "Confirmed"),
                            ("dismissed", "Dismissed"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "first_seen",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("last_seen", models.DateTimeField()),
                ("throttled_until", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-last_seen"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("kind", "subject_id", "reason"),
                        name="abuse_one_open_flag",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AbuseHour",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("key", "Key"), ("organization", "Organization")], max_length=12
                    ),
                ),
                ("subject_id", models.UUIDField()),
                ("hour", models.DateTimeField()),
                ("requests", models.PositiveBigIntegerField()),
                ("blocked", models.PositiveBigIntegerField()),
                ("tokens", models.PositiveBigIntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["hour"], name="abuse_hour_age")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "subject_id", "hour"), name="abuse_hour_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "amount",
                    models.DecimalField(
                        decimal_places=2,
                        help_text="For a month, in the organization's currency.",
                        max_digits=18,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "is_hard",
                    models.BooleanField(
                        default=False,
                        help_text="Refuse requests that might exceed it.",
                        verbose_name="hard",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="accounts.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("project", None), ("key", None), _connector="OR"),
                        name="budget_project_or_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0)), name="budget_not_negative"
                    ),
                    models.UniqueConstraint(
                        fields=("organization", "project", "key", "is_hard"),
                        name="budget_one_of_a_kind",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BudgetAlert",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("month", models.DateField()),
                ("threshold", models.PositiveSmallIntegerField(help_text="Per cent.")),
                ("spent", models.DecimalField(decimal_places=12, max_digits=30)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="billing.budget",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("budget", "month", "threshold"), name="budget_alert_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EngineHour",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("engine_id", models.CharField(max_length=100)),
                ("hour", models.DateTimeField()),
                ("model", models.CharField(help_text="A model as usage names it.", max_length=200)),
                ("name", models.CharField(max_length=200)),
                ("hardware", models.CharField(blank=True, max_length=200)),
                ("region", models.CharField(blank=True, max_length=200)),
                (
                    "hour_price",
                    models.DecimalField(
                        decimal_places=9,
                        help_text="US dollars; empty: not announced.",
                        max_digits=18,
                        null=True,
                    ),
                ),
                ("up_s", models.FloatField()),
                ("busy_s", models.FloatField()),
                ("input_tokens", models.BigIntegerField()),
                ("cached_tokens", models.BigIntegerField()),
                ("output_tokens", models.BigIntegerField()),
                (
                    "counted",
                    models.JSONField(
                        help_text="What the engine had counted when it was last seen."
                    ),
                ),
            ],
            options={
                "ordering": ["-hour", "model", "name"],
                "indexes": [models.Index(fields=["hour"], name="engine_hour_hour")],
                "constraints": [
                    models.UniqueConstraint(fields=("engine_id", "hour"), name="engine_hour_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("invoice", "Invoice"), ("credit_note", "credit note")],
                        default="invoice",
                        max_length=12,
                    ),
                ),
                (
                    "series",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Given when issued. Empty: from before there were series, numbered by customer.",
                        max_length=20,
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(
                        blank=True, help_text="Given when issued.", null=True
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("open", "Open"),
                            ("paid", "Paid"),
                            ("void", "Void"),
                        ],
                        default="draft",
                        max_length=8,
                    ),
                ),
                (
                    "reason",
                    models.CharField(blank=True, help_text="Of a credit note.", max_length=300),
                ),
                ("period_start", models.DateTimeField()),
                ("period_end", models.DateTimeField()),
                ("currency", models.CharField(max_length=3)),
                ("subtotal", models.DecimalField(decimal_places=2, max_digits=18)),
                (
                    "credit_applied",
                    models.DecimalField(decimal_places=2, default=Decimal("0"), max_digits=18),
                ),
                ("tax_rate", models.DecimalField(decimal_places=4, max_digits=6)),
                ("tax", models.DecimalField(decimal_places=2, max_digits=18)),
                ("total", models.DecimalField(decimal_places=2, max_digits=18)),
                ("seller", models.JSONField(default=dict, help_text="As it was when issued.")),
                ("customer", models.JSONField(default=dict, help_text="As it was when issued.")),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("issued_at", models.DateTimeField(blank=True, null=True)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("paid_at", models.DateTimeField(blank=True, null=True)),
                ("voided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "corrects",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="credit_notes",
                        to="billing.invoice",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-period_start", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("kind", "invoice"), models.Q(("status", "void"), _negated=True)
                        ),
                        fields=("organization", "period_start"),
                        name="invoice_one_a_month",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("series", "")),
                        fields=("organization", "number"),
                        name="invoice_number_unique",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("series", ""), _negated=True),
                        fields=("series", "number"),
                        name="invoice_series_number_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("number", None), ("status", "draft")),
                            models.Q(
                                models.Q(("status", "draft"), _negated=True),
                                ("number__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="invoice_number_when_issued",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DunningStep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("step", models.CharField(max_length=20)),
                ("at", models.DateTimeField()),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="dunning",
                        to="billing.invoice",
                    ),
                ),
            ],
            options={
                "ordering": ["at"],
                "constraints": [
                    models.UniqueConstraint(fields=("invoice", "step"), name="dunning_step_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="CreditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("grant", "Grant"),
                            ("debit", "Debit"),
                            ("expiry", "Expiry"),
                            ("reversal", "given back"),
                            ("refund", "payment taken back"),
                            ("restored", "payment restored"),
                        ],
                        max_length=8,
                    ),
                ),
                ("amount", models.DecimalField(decimal_places=12, max_digits=30)),
                ("currency", models.CharField(default="USD", max_length=3)),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, help_text="Of a grant.", null=True),
                ),
                ("note", models.CharField(blank=True, max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "grant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="billing.creditentry",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="credit_entries",
                        to="accounts.organization",
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="credit",
                        to="billing.invoice",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "credit entries",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("amount__gt", 0), ("grant", None), ("kind", "grant")),
                            models.Q(
                                ("amount__lt", 0),
                                ("grant__isnull", False),
                                ("kind__in", ["debit", "expiry", "refund"]),
                            ),
                            models.Q(
                                ("amount__gt", 0),
                                ("grant__isnull", False),
                                ("kind__in", ["reversal", "restored"]),
                            ),
                            _connector="OR",
                        ),
                        name="credit_signs",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Collection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("paid", "Paid"), ("failed", "Failed")],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("payment_id", models.CharField(blank=True, db_index=True, max_length=100)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="collections",
                        to="billing.invoice",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("invoice", "attempt"), name="collection_attempt"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelCost",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("currency", models.CharField(default="USD", max_length=3)),
                (
                    "input_per_1k",
                    models.DecimalField(
                        decimal_places=9,
                        max_digits=18,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "output_per_1k",
                    models.DecimalField(
                        decimal_places=9,
                        max_digits=18,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "effective_from",
                    models.DateTimeField(
                        default=datetime.datetime(2000, 1, 1, 0, 0, tzinfo=datetime.UTC)
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["model", "currency", "-effective_from", "-id"],
            },
        ),
        migrations.CreateModel(
            name="OutboxEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("topic", models.CharField(max_length=100)),
                ("key", models.CharField(max_length=64)),
                ("partition", models.SmallIntegerField(db_column="lane")),
                ("event_id", models.UUIDField()),
                ("payload", models.JSONField()),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("published_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("published_at", None)),
                        fields=["partition", "id"],
                        name="outbox_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("published_at__isnull", False)),
                        fields=["published_at"],
                        name="outbox_published",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("topic", "event_id"), name="outbox_event_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PlanPeriod",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "amount",
                    models.DecimalField(decimal_places=2, help_text="A month.", max_digits=12),
                ),
                ("currency", models.CharField(max_length=3)),
                ("began_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="plan_periods",
                        to="accounts.organization",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="accounts.plan"
                    ),
                ),
            ],
            options={
                "ordering": ["began_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("organization",),
                        name="plan_period_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="InvoiceLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("cached_input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("reasoning_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("audio_seconds", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("spoken_characters", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("image_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("position", models.PositiveIntegerField()),
                ("project_id", models.UUIDField()),
                ("project_name", models.CharField(max_length=200)),
                ("model", models.CharField(max_length=200)),
                (
                    "usage_month",
                    models.DateField(help_text="Earlier than the invoice's month: it came late."),
                ),
                ("is_late", models.BooleanField(default=False)),
                (
                    "at_project_price",
                    models.BooleanField(
                        db_default=False, default=False, verbose_name="at the project's price"
                    ),
                ),
                ("requests", models.BigIntegerField()),
                ("amount", models.DecimalField(decimal_places=12, max_digits=30)),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="billing.invoice",
                    ),
                ),
                (
                    "plan_period",
                    models.ForeignKey(
                        blank=True,
                        help_text="Of a fee: with `usage_month`, what is billed once.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="billing.planperiod",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("invoice", "position"), name="invoice_line_position"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PlanPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("amount", models.DecimalField(decimal_places=2, max_digits=12)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prices",
                        to="accounts.plan",
                    ),
                ),
            ],
            options={
                "ordering": ["plan__queue_priority", "currency"],
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "currency"), name="plan_price_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0)), name="plan_price_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("model", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("input", "Input"),
                            ("cached_input", "Cached input"),
                            ("output", "Output"),
                            ("reasoning", "Reasoning"),
                            ("audio", "Seconds of audio"),
                            ("characters", "Characters spoken"),
                            ("image", "Images"),
                        ],
                        max_length=16,
                    ),
                ),
                ("tiers", models.JSONField(null=True)),
                ("effective_from", models.DateTimeField()),
                ("note", models.CharField(blank=True, max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: the list price for everybody.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="own_prices",
                        to="accounts.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        help_text="One of the organization's. Empty: all of them.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="own_prices",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "ordering": ["model", "kind", "-effective_from", "-id"],
                "indexes": [
                    models.Index(fields=["model", "kind", "effective_from"], name="price_lookup")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("project", None), ("organization__isnull", False), _connector="OR"
                        ),
                        name="price_project_of_organization",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PriceFactor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "tier",
                    models.CharField(
                        choices=[("batch", "batch"), ("flex", "flex"), ("priority", "priority")],
                        max_length=16,
                    ),
                ),
                ("factor", models.DecimalField(decimal_places=3, max_digits=7)),
                ("effective_from", models.DateTimeField()),
                ("note", models.CharField(blank=True, max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["tier", "-effective_from", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("factor__gte", 0)), name="price_factor_not_negative"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReconciliationRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("start", models.DateTimeField()),
                ("end", models.DateTimeField()),
                ("lag_s", models.FloatField(verbose_name="lag (s)")),
                (
                    "differing",
                    models.PositiveIntegerField(help_text="Organization hours that differ."),
                ),
                ("republished", models.PositiveIntegerField(help_text="Events sent again.")),
                ("details", models.JSONField(default=list, help_text="The first differences.")),
            ],
            options={
                "ordering": ["-started_at"],
                "indexes": [models.Index(fields=["-started_at"], name="reconciliation_recent")],
            },
        ),
        migrations.CreateModel(
            name="TopUp",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("amount", models.DecimalField(decimal_places=2, max_digits=18)),
                ("currency", models.CharField(max_length=3)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("paid", "Paid"), ("expired", "Expired")],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("payment_id", models.CharField(blank=True, db_index=True, max_length=100)),
                (
                    "taken_back",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=2,
                        default=Decimal("0"),
                        help_text="By refunds and disputes.",
                        max_digits=18,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("paid_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "credit",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="top_up",
                        to="billing.creditentry",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="top_ups",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["organization", "-created_at"], name="top_up_org")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("amount__gt", 0)), name="top_up_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("credit__isnull", False), ("state", "paid")),
                            models.Q(models.Q(("state", "paid"), _negated=True), ("credit", None)),
                            _connector="OR",
                        ),
                        name="top_up_paid_has_credit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PaymentReversal",
            fields=[
                (
                    "reference",
                    models.CharField(
                        help_text="The refunded charge, or the dispute.",
                        max_length=100,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("refund", "Refund"), ("dispute", "Dispute")], max_length=8
                    ),
                ),
                ("payment_id", models.CharField(db_index=True, max_length=100)),
                (
                    "amount",
                    models.DecimalField(
                        decimal_places=2,
                        help_text="Of all refunds of the charge; of the dispute.",
                        max_digits=18,
                    ),
                ),
                ("currency", models.CharField(max_length=3)),
                (
                    "is_closed",
                    models.BooleanField(default=False, help_text="A dispute that was decided."),
                ),
                (
                    "is_won",
                    models.BooleanField(default=False, help_text="The payment is ours after all."),
                ),
                (
                    "refunds",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Those that are known by id: amount, whether it failed.",
                    ),
                ),
                (
                    "failed",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=2,
                        default=Decimal("0"),
                        help_text="Of the refunds, what never reached the customer.",
                        max_digits=18,
                    ),
                ),
                (
                    "applied",
                    models.DecimalField(decimal_places=2, default=Decimal("0"), max_digits=18),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reversals",
                        to="billing.invoice",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payment_reversals",
                        to="accounts.organization",
                    ),
                ),
                (
                    "top_up",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reversals",
                        to="billing.topup",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount__gt", 0),
                            ("applied__gte", 0),
                            ("applied__lte", models.F("amount")),
                        ),
                        name="payment_reversal_amounts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("failed__gte", 0), ("failed__lte", models.F("amount"))),
                        name="payment_reversal_failed",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UnaggregatedUsage",
            fields=[
                ("generation_id", models.UUIDField(primary_key=True, serialize=False)),
                ("organization_id", models.UUIDField()),
            ],
            options={
                "indexes": [models.Index(fields=["organization_id"], name="unaggregated_org")],
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("cached_input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("reasoning_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("audio_seconds", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("spoken_characters", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("image_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("organization_id", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                ("key_id", models.UUIDField(blank=True, null=True)),
                ("model", models.CharField(max_length=200)),
                ("requests", models.PositiveBigIntegerField()),
                ("day", models.DateTimeField(help_text="When it begins.")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "organization_id",
                            "day",
                            "project_id",
                            "user_id",
                            "key_id",
                            "model",
                        ),
                        name="day_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageEvent",
            fields=[
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("cached_input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("reasoning_tokens", models.PositiveIntegerField(db_default=0, default=0)),
                ("audio_seconds", models.PositiveIntegerField(db_default=0, default=0)),
                ("spoken_characters", models.PositiveIntegerField(db_default=0, default=0)),
                ("image_tokens", models.PositiveIntegerField(db_default=0, default=0)),
                ("occurred_at", models.DateTimeField(help_text="When the generation ended.")),
                ("project_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                (
                    "key_id",
                    models.UUIDField(
                        blank=True, help_text="Empty: the page, not a key.", null=True
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                (
                    "pool",
                    models.CharField(
                        blank=True, help_text="Empty: no engine saw it.", max_length=200
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("completed", "Completed"),
                            ("cancelled", "Cancelled"),
                            ("blocked", "Blocked"),
                            ("failed", "Failed"),
                        ],
                        max_length=16,
                    ),
                ),
                ("ttft_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("duration_ms", models.PositiveIntegerField()),
                (
                    "client_hash",
                    models.CharField(
                        blank=True, help_text="Keyed hash of the client's address.", max_length=64
                    ),
                ),
                ("event_id", models.UUIDField(primary_key=True, serialize=False)),
                ("organization_id", models.UUIDField()),
                (
                    "ingested_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization_id", "occurred_at"], name="event_org_time"),
                    django.contrib.postgres.indexes.BrinIndex(
                        fields=["occurred_at"], name="event_time_brin"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("cached_input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("reasoning_tokens", models.PositiveIntegerField(db_default=0, default=0)),
                ("audio_seconds", models.PositiveIntegerField(db_default=0, default=0)),
                ("spoken_characters", models.PositiveIntegerField(db_default=0, default=0)),
                ("image_tokens", models.PositiveIntegerField(db_default=0, default=0)),
                ("occurred_at", models.DateTimeField(help_text="When the generation ended.")),
                ("project_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                (
                    "key_id",
                    models.UUIDField(
                        blank=True, help_text="Empty: the page, not a key.", null=True
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                (
                    "pool",
                    models.CharField(
                        blank=True, help_text="Empty: no engine saw it.", max_length=200
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("completed", "Completed"),
                            ("cancelled", "Cancelled"),
                            ("blocked", "Blocked"),
                            ("failed", "Failed"),
                        ],
                        max_length=16,
                    ),
                ),
                ("ttft_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("duration_ms", models.PositiveIntegerField()),
                (
                    "client_hash",
                    models.CharField(
                        blank=True, help_text="Keyed hash of the client's address.", max_length=64
                    ),
                ),
                ("generation_id", models.UUIDField(unique=True)),
                (
                    "recorded_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "invoice",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        editable=False,
                        help_text="The invoice that took it up.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="usage_records",
                        to="billing.invoice",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="usage_records",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "occurred_at"], name="usage_org_time"),
                    models.Index(
                        condition=models.Q(("invoice", None)),
                        fields=["organization", "occurred_at"],
                        name="usage_not_invoiced",
                    ),
                    models.Index(
                        condition=models.Q(("invoice__isnull", False)),
                        fields=["invoice"],
                        name="usage_by_invoice",
                    ),
                    django.contrib.postgres.indexes.BrinIndex(
                        fields=["occurred_at"], name="usage_time_brin"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "input_tokens__gte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("cached_input_tokens"), "+", models.F("image_tokens")
                                ),
                            )
                        ),
                        name="usage_input_contains_parts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("output_tokens__gte", models.F("reasoning_tokens"))),
                        name="usage_output_contains_parts",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageRollup",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("cached_input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("reasoning_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("audio_seconds", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("spoken_characters", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("image_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("organization_id", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                ("key_id", models.UUIDField(blank=True, null=True)),
                ("model", models.CharField(max_length=200)),
                ("requests", models.PositiveBigIntegerField()),
                ("hour", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization_id", "hour"], name="rollup_org_hour")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "hour",
                            "organization_id",
                            "project_id",
                            "user_id",
                            "key_id",
                            "model",
                        ),
                        name="rollup_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageSum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("cached_input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("reasoning_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("audio_seconds", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("spoken_characters", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("image_tokens", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("organization_id", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                ("key_id", models.UUIDField(blank=True, null=True)),
                ("model", models.CharField(max_length=200)),
                ("requests", models.PositiveBigIntegerField()),
                ("unit", models.CharField(help_text="hour, day or month (UTC).", max_length=5)),
                (
                    "detail",
                    models.CharField(
                        help_text="model, project, key or all: what is kept.", max_length=7
                    ),
                ),
                ("start", models.DateTimeField(help_text="When it begins.")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "organization_id",
                            "unit",
                            "detail",
                            "start",
                            "project_id",
                            "user_id",
                            "key_id",
                            "model",
                        ),
                        name="sum_unique",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("url", models.URLField(max_length=500)),
                (
                    "encrypted_secret",
                    models.CharField(db_column="secret", editable=False, max_length=300),
                ),
                (
                    "types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("budget.threshold_reached", "Budget Threshold"),
                                ("invoice.issued", "Invoice Issued"),
                                ("invoice.paid", "Invoice Paid"),
                                ("invoice.voided", "Invoice Voided"),
                                ("credit_note.issued", "Credit Note Issued"),
                                ("batch.completed", "Batch Completed"),
                                ("batch.failed", "Batch Failed"),
                                ("batch.expired", "Batch Expired"),
                                ("batch.cancelled", "Batch Cancelled"),
                            ],
                            max_length=40,
                        ),
                        size=None,
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "failures",
                    models.PositiveIntegerField(db_default=0, default=0, help_text="In a row."),
                ),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                (
                    "disabled_at",
                    models.DateTimeField(
                        blank=True, help_text="After repeated failure; no longer called.", null=True
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhook_endpoints",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at"],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("event_id", models.UUIDField()),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("budget.threshold_reached", "Budget Threshold"),
                            ("invoice.issued", "Invoice Issued"),
                            ("invoice.paid", "Invoice Paid"),
                            ("invoice.voided", "Invoice Voided"),
                            ("credit_note.issued", "Credit Note Issued"),
                            ("batch.completed", "Batch Completed"),
                            ("batch.failed", "Batch Failed"),
                            ("batch.expired", "Batch Expired"),
                            ("batch.cancelled", "Batch Cancelled"),
                        ],
                        max_length=40,
                    ),
                ),
                ("payload", models.JSONField()),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "next_attempt_at",
                    models.DateTimeField(
                        blank=True, help_text="Empty: delivered or given up.", null=True
                    ),
                ),
                (
                    "claimed_until",
                    models.DateTimeField(
                        blank=True, help_text="While it is being sent.", null=True
                    ),
                ),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                ("status_code", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="billing.webhookendpoint",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_attempt_at__isnull", False)),
                        fields=["next_attempt_at"],
                        name="webhook_due",
                    ),
                    models.Index(
                        condition=models.Q(("claimed_until__isnull", False)),
                        fields=["claimed_until"],
                        name="webhook_claimed",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("endpoint", "event_id"), name="webhook_event_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(_triggers.CREATE, _triggers.DROP),
    ]
