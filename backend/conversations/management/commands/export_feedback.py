"""`manage.py export_feedback`: rated answers with their prompts, as JSON lines.

For `python -m safety.training.preferences`. Who gave a thumb has sent the answer with it;
nothing of other answers or of deleted conversations is here.
"""

import json
from typing import Any

from django.core.management.base import BaseCommand

from backend.conversations.feedback import rated_answers


class Command(BaseCommand):
    help = "Print answers that have a thumb, one JSON object a line."

    def handle(self, *args: Any, **options: Any) -> None:
        for row in rated_answers():
            self.stdout.write(json.dumps(row, ensure_ascii=False))
