"""What the staff's pages have in common."""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator


class ReadOnlyAdmin(ModelAdmin):
    """Rows that the product writes and staff only read."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class LargeReadOnlyAdmin(ReadOnlyAdmin):
    """A table that grows with use: it is paged without ever being counted."""

    paginator = InfinitePaginator
    show_full_result_count = False
    list_per_page = 50
