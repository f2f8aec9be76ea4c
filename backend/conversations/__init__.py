"""What was said: conversations, messages (a tree), attachments, feedback, shares.

models.py       tables and their invariants (audit.py: who read whose content in the admin)
types.py        the values that services hand to the gateway: Turn, ChatMessage
services.py     writes: conversations and turns; the other nouns have a module each:
                attachments.py, feedback.py, shares.py, titles.py, purge.py
selectors.py    reads: the list with search, one branch of the tree
tree.py         recursive queries over the tree of messages
notify.py       events to a user's tabs, sent when the transaction commits
tasks.py        Celery: purge and titles
"""
