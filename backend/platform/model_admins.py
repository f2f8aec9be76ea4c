"""What the staff's pages have in common."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from backend.platform.replica import database_to_read


class ReadOnlyAdmin(ModelAdmin):
    """Rows that the product writes and staff only read."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class LargeReadOnlyAdmin(ReadOnlyAdmin):
    """A table that grows with use: paged without ever being counted, searched by whole values, its
    list read from the replica where there is one.

    Attributes:
        search_ids: UUID fields, searched where the term is a UUID.
        search_email: the field with an address, searched where the term holds an @.
        search_words: other fields, compared as they are.
    """

    paginator = InfinitePaginator
    show_full_result_count = False
    list_per_page = 50
    search_fields = ("pk",)  # shows the search box; get_search_results decides

    search_ids: tuple[str, ...] = ("pk",)
    search_email: str | None = None
    search_words: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        match = request.resolver_match
        if match is not None and (match.url_name or "").endswith("_changelist"):
            return rows.using(database_to_read(fresh=False))
        return rows

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        if "@" in term and self.search_email:
            return queryset.filter(**{self.search_email: term.lower()}), False
        wanted = Q(pk__in=[])
        identity = _uuid(term)
        for field in self.search_ids if identity else self.search_words:
            wanted |= Q(**{field: identity or term})
        return queryset.filter(wanted), False


def _uuid(term: str) -> UUID | None:
    try:
        return UUID(term)
    except ValueError:
        return None
