"""Which tokens the delivered text stands for.

An upstream says "so many tokens so far" with each chunk of text; the post-classifier lets text
through later, and not at the same boundaries. The rule that maps one to the other:

- tokens of a chunk count when its text has been delivered;
- of a chunk delivered in part, the share of its characters counts, rounded up: a chunk of one
  token counts whole as soon as one of its characters was seen;
- tokens without text (the first half of a character, the end-of-sequence token) count with the
  next text, or with the end when the whole answer was delivered;
- so 0 <= delivered tokens <= generated tokens, and both only grow.
"""

from collections import deque


class TokenAccounting:
    """Counts of one choice. Offsets are characters of generated text, from the first on."""

    def __init__(self, *, delivered_tokens: int = 0) -> None:
        """
        Args:
            delivered_tokens: of an answer failed over to here; its text is not counted.
        """
        self.generated_tokens = delivered_tokens
        self.delivered_tokens = delivered_tokens
        self._generated_chars = 0
        self._start = (0, delivered_tokens)  # (characters, tokens) where the first mark begins
        self._marks: deque[tuple[int, int]] = deque()  # (characters, tokens) after each chunk

    def generated(self, characters: int, tokens: int) -> None:
        """A chunk came: `characters` more, `tokens` in all (never fewer than before)."""
        self.generated_tokens = max(self.generated_tokens, tokens)
        if characters:
            self._generated_chars += characters
            self._marks.append((self._generated_chars, self.generated_tokens))

    def restart(self) -> None:
        """The answer is continued from its text: tokens that gave none are generated again."""
        self.generated_tokens = self._marks[-1][1] if self._marks else self._start[1]

    def delivered(self, characters: int) -> int:
        """`characters` of the generated text have been delivered in all; the tokens of that."""
        while self._marks and self._marks[0][0] <= characters:
            self._start = self._marks.popleft()
            self.delivered_tokens = self._start[1]
        if self._marks and characters > self._start[0]:
            begin_chars, begin_tokens = self._start
            end_chars, end_tokens = self._marks[0]
            share = (characters - begin_chars) * (end_tokens - begin_tokens)
            partly = -(-share // (end_chars - begin_chars))
            self.delivered_tokens = max(self.delivered_tokens, begin_tokens + partly)
        return self.delivered_tokens

    def all_delivered(self, exact: int | None = None) -> int:
        """The answer ended, and all of it was delivered: every generated token counts.

        Args:
            exact: the upstream's last word on how many there were.
        """
        self._marks.clear()
        if exact is not None:
            self.generated_tokens = exact
        self.delivered_tokens = self.generated_tokens
        return self.delivered_tokens
