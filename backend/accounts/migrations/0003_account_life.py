from django.db import migrations, models


def verify_superusers(apps, schema_editor):
    """Superusers were made at the console or by one another; everybody else is asked once."""
    User = apps.get_model("accounts", "User")
    EmailAddress = apps.get_model("account", "EmailAddress")
    for user in User.objects.filter(is_superuser=True):
        EmailAddress.objects.get_or_create(
            user=user, email=user.email.lower(), defaults={"verified": True, "primary": True}
        )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_plans"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [
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
            ],
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
        migrations.RunPython(verify_superusers, migrations.RunPython.noop),
    ]
