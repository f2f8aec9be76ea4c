"""What finance looks at: revenue, margin, lag, reconciliation; and exports.

figures.py  the numbers of a period, from the rollups, priced as invoices are
view.py     the page in the admin
export.py   usage as CSV, streamed
"""
