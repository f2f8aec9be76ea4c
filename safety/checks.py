"""The two checks of safety. Both are pure, take a policy, and never raise over what a text says.

`PreClassifier().check(messages, policy)` decides about a prompt;
`PostClassifier(policy, messages).feed(delta)` gives out of an answer what has passed.
"""

from safety.judge.pre import PreClassifier
from safety.stream.post import PostClassifier

__all__ = ["PostClassifier", "PreClassifier"]
