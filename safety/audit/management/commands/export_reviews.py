"""`manage.py export_reviews`: what reviewers decided, as JSON lines of labelled texts.

For the classifiers' training and `python -m safety.training.preferences`. Only texts that a policy
retains are there.
"""

import json
from typing import Any

from django.core.management.base import BaseCommand

from safety.audit.selectors import labelled_texts


class Command(BaseCommand):
    help = "Print resolved reviews with their retained texts, one JSON object a line."

    def handle(self, *args: Any, **options: Any) -> None:
        for row in labelled_texts():
            self.stdout.write(json.dumps(row, ensure_ascii=False))
