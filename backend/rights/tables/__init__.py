"""What an erasure and an export do with each table, by what the tables hold.

content.py    what users wrote, and what was answered
money.py      usage, prices, invoices, payments
people.py     users, organizations, and how they sign in
operator.py   what is no subject's
reasons.py    why rows are kept, where several tables share one

In each, what points at another row comes before it; so do the files as registry.py joins them.
"""
