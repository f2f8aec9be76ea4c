"""What a model thinks before it answers, as part of an answer's one text.

As calls are (tools.py): it is checked, counted, held back and continued with the rest. A thought
stands first, between `THOUGHT` and `ANSWER`; both are noncharacters, which no text may hold.
"""

THOUGHT = "\ufdd2"
ANSWER = "\ufdd3"


def split_thought(text: str) -> tuple[str, str]:
    """The thought of an answer's text, and the rest."""
    if not text.startswith(THOUGHT):
        return "", text
    thought, _, rest = text[1:].partition(ANSWER)
    return thought, rest


class ThoughtMarks:
    """Puts the marks into one choice's text as its parts come.

    Attributes:
        is_thinking: a thought has begun, and no answer.
    """

    def __init__(self, so_far: str = "") -> None:
        self.is_thinking = so_far.startswith(THOUGHT) and ANSWER not in so_far
        self._answers = bool(so_far) and not self.is_thinking

    def text_of(self, thought: str, answer: str) -> str:
        """The next part of the text. What is thought after the answer has begun is left out: a
        thought stands first."""
        if answer and self._answers:
            return answer
        text = ""
        if thought and not self._answers:
            text = thought if self.is_thinking else THOUGHT + thought
            self.is_thinking = True
        if answer:
            text += ANSWER + answer if self.is_thinking else answer
            self.is_thinking, self._answers = False, True
        return text
