"""Why rows are kept, or no copy of them is given, where several tables share a reason."""

from django.utils.translation import gettext_noop

ACCOUNTING = gettext_noop(
    "Accounting law: kept for as long as invoices are; it names ids that lead to nobody."
)
EVIDENCE = gettext_noop("Evidence of what was done and agreed; it names ids that lead to nobody.")
IDS = "Holds ids only, for some days."
