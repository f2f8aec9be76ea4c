"""0003 to 0009 at once, for a database that has none of them.

Not 0001 and 0002: allauth's tables come between, which begin with the first and are needed here.
"""

import uuid

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from backend.accounts.defaults import BATCH_QUOTAS, batch_quotas_of

SEATS = {"free": 5, "standard": 50}


def set_limits(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What the plans that 0002 made have of seats, files and batches."""
    plans = apps.get_model("accounts", "Plan").objects
    for slug, seats in SEATS.items():
        plans.filter(slug=slug).update(seats=seats)
    for slug in BATCH_QUOTAS:
        plans.filter(slug=slug).update(**batch_quotas_of(slug))


def verify_superusers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Superusers were made at the console or by one another; everybody else is asked once."""
    User = apps.get_model("accounts", "User")
    EmailAddress = apps.get_model("account", "EmailAddress")
    for user in User.objects.filter(is_superuser=True):
        EmailAddress.objects.get_or_create(
            user=user, email=user.email.lower(), defaults={"verified": True, "primary": True}
        )


class Migration(migrations.Migration):
    replaces = [
        ("accounts", "0003_account_life"),
        ("accounts", "0004_operators"),
        ("accounts", "0005_teams"),
        ("accounts", "0006_batches"),
        ("accounts", "0007_data_rights"),
        ("accounts", "0008_mail_attachments"),
        ("accounts", "0009_request_logs"),
    ]

    dependencies = [
        ("account", "0009_emailaddress_unique_primary_email"),
        ("accounts", "0002_plans"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DataPolicy",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="data_policy",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                (
                    "retention_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Chats and stored answers go so many days after the last turn. 0: nothing is stored after an answer is delivered. Empty: until they are deleted.",
                        null=True,
                    ),
                ),
                (
                    "stores_api_calls",
                    models.BooleanField(
                        default=True, help_text="No: API calls are as with store=false."
                    ),
                ),
                (
                    "logs_requests",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Requests of API keys are kept, encrypted, for their owners to search.",
                    ),
                ),
                (
                    "request_log_days",
                    models.PositiveIntegerField(
                        db_default=30, default=30, help_text="Days that logged requests are kept."
                    ),
                ),
                (
                    "allows_training",
                    models.BooleanField(
                        default=True,
                        help_text="Whether feedback and reviews may train classifiers and models.",
                    ),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name_plural": "data policies",
            },
        ),
        migrations.CreateModel(
            name="TrainingOptOut",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="training_opt_out",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="organization",
            name="suspended_at",
            field=models.DateTimeField(
                editable=False, help_text="Set while it has an open suspension.", null=True
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="batch_lines",
            field=models.PositiveIntegerField(
                db_default=1000, default=1000, help_text="Requests of one batch."
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="file_bytes",
            field=models.BigIntegerField(
                db_default=100000000,
                default=100000000,
                help_text="Files of an organization together.",
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="open_batches",
            field=models.PositiveIntegerField(
                db_default=2, default=2, help_text="Batches of an organization at a time."
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="seats",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="How many people may be members; empty: any number.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="allowed_models",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=100),
                blank=True,
                db_default=[],
                default=list,
                help_text="The models that its keys may use; none means all.",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="archived_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="logs_requests",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="No: requests of its keys are not logged, whatever the organization has.",
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="retention_days",
            field=models.PositiveIntegerField(
                blank=True, help_text="Its chats go so many days after the last turn.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="membership",
            name="role",
            field=models.CharField(
                choices=[
                    ("owner", "Owner"),
                    ("admin", "Admin"),
                    ("member", "Member"),
                    ("finance", "Finance"),
                    ("viewer", "Viewer"),
                ],
                default="member",
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("text", models.TextField(blank=True, help_text="Plain text.", max_length=1000)),
                (
                    "link",
                    models.URLField(
                        blank=True,
                        validators=[django.core.validators.URLValidator(schemes=["https", "http"])],
                    ),
                ),
                (
                    "tone",
                    models.CharField(
                        choices=[("info", "information"), ("warning", "Warning")],
                        default="info",
                        max_length=8,
                    ),
                ),
                (
                    "starts_at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now),
                ),
                (
                    "ends_at",
                    models.DateTimeField(
                        blank=True, help_text="Empty: until it is deleted.", null=True
                    ),
                ),
                ("is_dismissible", models.BooleanField(default=True, verbose_name="dismissible")),
                (
                    "plans",
                    models.ManyToManyField(
                        blank=True, help_text="None: everyone.", to="accounts.plan"
                    ),
                ),
            ],
            options={
                "ordering": ["-starts_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "email",
                    models.EmailField(
                        blank=True,
                        help_text="Only for this address; empty for a link.",
                        max_length=254,
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("member", "Member"),
                            ("finance", "Finance"),
                            ("viewer", "Viewer"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "projects",
                    models.JSONField(default=list, help_text='[{"id", "role"}]: joined as well.'),
                ),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                ("max_uses", models.PositiveIntegerField(default=1)),
                ("uses", models.PositiveIntegerField(default=0)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "-created_at"], name="invitation_list")
                ],
            },
        ),
        migrations.CreateModel(
            name="JoinRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="join_requests",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="join_requests",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "user"), name="join_request_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LegalHold",
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
                        help_text="Whose request, by which reference.", max_length=500
                    ),
                ),
                (
                    "began_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("ended_at", models.DateTimeField(editable=False, null=True)),
                (
                    "began_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="legal_holds",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="legal_holds",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-began_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("organization", None), ("user__isnull", False)),
                            models.Q(("organization__isnull", False), ("user", None)),
                            _connector="OR",
                        ),
                        name="legal_hold_one_subject",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("organization", "user"),
                        name="legal_hold_one_open",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Mail",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("to", models.EmailField(max_length=254)),
                ("kind", models.CharField(max_length=40)),
                ("subject", models.CharField(max_length=200)),
                ("ciphertext", models.TextField(blank=True)),
                (
                    "attachment",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="The name of a file in `ciphertext`.",
                        max_length=100,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("sent", "Sent"),
                            ("failed", "Failed"),
                            ("outbox", "Outbox"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, max_length=300)),
                (
                    "due_at",
                    models.DateTimeField(
                        help_text="The next attempt; empty when there is none", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("sent_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "queued")), fields=["due_at"], name="mail_due"
                    ),
                    models.Index(fields=["created_at"], name="mail_created"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelAccess",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "model",
                    models.CharField(
                        help_text="Its id in the pools file, no alias.", max_length=100
                    ),
                ),
                ("is_allowed", models.BooleanField(default=True, verbose_name="allowed")),
                (
                    "organization",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_access",
                        to="accounts.organization",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_access",
                        to="accounts.plan",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "model access",
                "ordering": ["model", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("organization", None), ("plan", None), _connector="OR"),
                        name="model_access_one_scope",
                    ),
                    models.UniqueConstraint(
                        fields=("model", "organization", "plan"),
                        name="model_access_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrganizationDomain",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "domain",
                    models.CharField(help_text="In lower case, as DNS has it.", max_length=253),
                ),
                (
                    "token",
                    models.CharField(help_text="What its TXT record has to say.", max_length=64),
                ),
                (
                    "join",
                    models.CharField(
                        choices=[
                            ("request", "people ask, and an owner or admin decides"),
                            ("automatic", "people are members at once"),
                        ],
                        default="request",
                        max_length=16,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="domains",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("verified_at__isnull", False)),
                        fields=("domain",),
                        name="domain_verified_once",
                    ),
                    models.UniqueConstraint(
                        fields=("organization", "domain"), name="domain_claimed_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PendingSignUp",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                ("email", models.EmailField(max_length=254)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("password", models.CharField(help_text="Hashed.", max_length=128)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                (
                    "invitation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.invitation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProjectMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("member", "Member")],
                        default="member",
                        max_length=16,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "membership",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="project_memberships",
                        to="accounts.membership",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "membership"), name="project_member_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProjectRateLimit",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("model", models.CharField(max_length=100)),
                ("requests_per_minute", models.PositiveIntegerField()),
                ("tokens_per_minute", models.PositiveIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rate_limits",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "model"), name="project_rate_limit_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ServiceAccount",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="service_accounts",
                        to="accounts.project",
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="service_account",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SignUpPolicy",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(
                        default=1, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[
                            ("open", "anybody"),
                            ("domain", "addresses of the domains below"),
                            ("invitation", "by invitation only"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "domains",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=253),
                        blank=True,
                        default=list,
                        help_text="Separated by commas, such as example.org. Subdomains are not included.",
                        size=None,
                    ),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "sign-up policy",
                "verbose_name_plural": "sign-up policy",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id", 1)), name="sign_up_policy_is_one"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Suspension",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        choices=[("operator", "Operator"), ("unpaid", "unpaid invoice")],
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(help_text="The customer reads it.", max_length=300)),
                (
                    "began_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("end_reason", models.CharField(blank=True, max_length=300)),
                (
                    "began_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suspensions",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "ordering": ["-began_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("organization", "cause"),
                        name="suspension_one_open_of_a_cause",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TermsVersion",
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
                            ("terms", "terms of service"),
                            ("privacy", "privacy policy"),
                            ("usage", "usage policy"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "version",
                    models.CharField(help_text="As it is shown, such as 2026-11.", max_length=40),
                ),
                (
                    "summary",
                    models.TextField(
                        blank=True,
                        help_text="What has changed; shown where it is asked for.",
                        max_length=2000,
                    ),
                ),
                (
                    "link",
                    models.URLField(
                        help_text="The whole text.",
                        validators=[django.core.validators.URLValidator(schemes=["https", "http"])],
                    ),
                ),
                (
                    "effective_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="Asked for from then on."
                    ),
                ),
            ],
            options={
                "verbose_name": "version of the terms",
                "verbose_name_plural": "versions of the terms",
                "ordering": ["-effective_at", "-pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "version"), name="terms_version_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="TermsAcceptance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("address", models.GenericIPAddressField(help_text="Of the client.", null=True)),
                (
                    "accepted_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="terms_acceptances",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="acceptances",
                        to="accounts.termsversion",
                    ),
                ),
            ],
            options={
                "ordering": ["-accepted_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "user"), name="terms_accepted_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="AnnouncementDismissal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "announcement",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="dismissals",
                        to="accounts.announcement",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("announcement", "user"), name="dismissal_once")
                ],
            },
        ),
        migrations.RunPython(set_limits, migrations.RunPython.noop),
        migrations.RunPython(verify_superusers, migrations.RunPython.noop),
    ]
