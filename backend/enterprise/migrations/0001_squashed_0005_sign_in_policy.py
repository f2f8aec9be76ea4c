"""0001 to 0005 at once, for a database that has none of them."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("enterprise", "0001_enterprise"),
        ("enterprise", "0002_directory_networks"),
        ("enterprise", "0003_groups_and_logout"),
        ("enterprise", "0004_own_groups"),
        ("enterprise", "0005_sign_in_policy"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0009_request_logs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Connection",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "protocol",
                    models.CharField(choices=[("oidc", "Oidc"), ("saml", "Saml")], max_length=8),
                ),
                (
                    "issuer",
                    models.CharField(
                        help_text="OIDC: issuer. SAML: the entity id.", max_length=500
                    ),
                ),
                (
                    "default_role",
                    models.CharField(
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
                (
                    "groups_claim",
                    models.CharField(
                        db_default="groups",
                        default="groups",
                        help_text="The claim, or SAML attribute, that names a person's groups.",
                        max_length=200,
                    ),
                ),
                ("is_enabled", models.BooleanField(default=True)),
                (
                    "is_forced",
                    models.BooleanField(
                        default=False,
                        help_text="Members who are no owners cannot sign in with a password.",
                    ),
                ),
                (
                    "allows_idp_initiated",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="What the provider starts by itself begins a sign-in of the browser here.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sso_connection",
                        to="accounts.organization",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SignInPolicy",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sign_in_policy",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                (
                    "requires_second_factor",
                    models.BooleanField(
                        default=False,
                        help_text="Who signs in with a password needs an authenticator app or a passkey.",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="OIDCSettings",
            fields=[
                (
                    "connection",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="oidc",
                        serialize=False,
                        to="enterprise.connection",
                    ),
                ),
                ("client_id", models.CharField(max_length=300)),
                ("encrypted_secret", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="SAMLSettings",
            fields=[
                (
                    "connection",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="saml",
                        serialize=False,
                        to="enterprise.connection",
                    ),
                ),
                ("sso_url", models.CharField(max_length=500)),
                (
                    "slo_url",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="Empty: no single logout.",
                        max_length=500,
                    ),
                ),
                (
                    "certificates",
                    models.TextField(help_text="PEM, one or more: the new one beside the old."),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DirectoryToken",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="directory_token",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                ("sha256", models.CharField(max_length=64, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DirectoryUser",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("user_name", models.CharField(help_text="In lower case.", max_length=254)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                ("is_active", models.BooleanField(default=True)),
                (
                    "resource",
                    models.JSONField(default=dict, help_text="What else the directory sent."),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="directory_users",
                        to="accounts.organization",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="directory_users",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "created_at", "id"], name="scim_users")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "user"), name="directory_user_once"
                    ),
                    models.UniqueConstraint(
                        fields=("organization", "user_name"), name="directory_user_name_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DirectoryGroup",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("display_name", models.CharField(max_length=200)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                (
                    "is_scim",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        help_text="Whether the directory sends it: read only here.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="directory_groups",
                        to="accounts.organization",
                    ),
                ),
                (
                    "people",
                    models.ManyToManyField(
                        help_text="Of the organization's own.",
                        related_name="own_groups",
                        to="accounts.membership",
                    ),
                ),
                (
                    "members",
                    models.ManyToManyField(
                        help_text="Of the directory's.",
                        related_name="groups",
                        to="enterprise.directoryuser",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "created_at", "id"], name="scim_groups")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "display_name"), name="directory_group_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GroupGrant",
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
                        blank=True,
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
                ("projects", models.JSONField(default=list, help_text="Ids.")),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organization",
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
                    models.UniqueConstraint(
                        fields=("organization", "user"), name="group_grant_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GroupRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "group",
                    models.CharField(
                        help_text="The name, as the provider writes it.", max_length=200
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        blank=True,
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
                    "project_role",
                    models.CharField(
                        blank=True,
                        choices=[("owner", "Owner"), ("member", "Member")],
                        max_length=16,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="group_rules",
                        to="accounts.organization",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "group", "project"),
                        name="group_rule_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("project", None),
                                ("project_role", ""),
                                models.Q(("role", ""), _negated=True),
                            ),
                            models.Q(
                                ("project__isnull", False),
                                ("role", ""),
                                models.Q(("project_role", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="group_rule_gives_one_thing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("subject", models.CharField(max_length=300)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("last_sign_in_at", models.DateTimeField(null=True)),
                (
                    "groups",
                    models.JSONField(
                        db_default=[],
                        default=list,
                        help_text="Names that the provider gave at the last sign-in.",
                    ),
                ),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to="enterprise.connection",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "identities",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("connection", "subject"), name="identity_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AllowedNetwork",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cidr", models.CharField(max_length=43)),
                ("note", models.CharField(blank=True, max_length=200)),
                (
                    "for_directory",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Lets only SCIM in: a directory in the cloud, and no people.",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="allowed_networks",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "cidr"), name="allowed_network_once"
                    )
                ],
            },
        ),
    ]
