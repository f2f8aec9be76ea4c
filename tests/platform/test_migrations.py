"""No change of a model is without its migration."""

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_migrations_are_complete(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        call_command("makemigrations", check_changes=True, dry_run=True)
    except SystemExit:
        pytest.fail(capsys.readouterr().out)
