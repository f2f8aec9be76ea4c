"""What was said: conversations, messages (a tree), attachments, feedback, shares.

models.py       tables and their invariants
types.py        the values that the gateway is handed: Turn, ChatMessage
services.py     writes to a conversation as a whole
turns.py        a prompt and its answer, from the pending row to the finished text
parts.py        the parts of a message, in (checked) and out (for the model)
history.py      what the model reads
assistants.py   set up once for many chats; assistant_access.py: who sees and changes them
shared_files.py files of projects and assistants, which every chat with them reads
attachments.py, feedback.py, shares.py, titles.py, purge.py, audit.py   as they are called
selectors.py    reads: the list with search (cursors.py), one branch of the tree
tree.py         recursive queries over the tree of messages
notify.py       events to a user's tabs, sent when the transaction commits
tasks.py        Celery: purge and titles
"""
