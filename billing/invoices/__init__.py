"""Invoices: the monthly close, numbers, corrections, and how they are printed.

closing.py     a month's usage becomes a draft with lines; closing again gives the same
services.py    issue (takes the number), pay, void, credit note
rounding.py    the only place where money is rounded
pdf.py, csv.py the documents; fonts.py and bidi.py print names in any writing
selectors.py   what an organization may see
"""
