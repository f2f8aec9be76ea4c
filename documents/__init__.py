"""Documents as text with places: PDF, Word, Excel, PowerPoint, HTML, Markdown, CSV and plain text.

    types.py      what a document becomes, how it may fail, and the limits
    passages.py   long text in passages that keep their place
    ocr.py        text in pictures, where the extra `ocr` is installed
    formats/      one file a format; libraries of theirs are imported by the child alone
    child.py      the process that reads one file and ends
    sandbox.py    what that process gives up before it reads
    run.py        what a server calls: starts the child and waits, no longer than it may take

Imports nothing of Django or of the folders beside it.
"""
