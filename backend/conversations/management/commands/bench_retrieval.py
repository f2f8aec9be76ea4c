"""`manage.py bench_retrieval`: backend.conversations.retrieval."""

from typing import Any

from django.core.management.base import BaseCommand

from backend.conversations.retrieval import bench


class Command(BaseCommand):
    help = "How well passages of files are found, beside plain BM25."

    def handle(self, *args: Any, **options: Any) -> None:
        bench.measure()
