"""What each reader got, what is stored and what is billed, held against each other.

Nothing of the product's code takes part: rows by SQL, tokens counted by the engine's tokenizer, and
the answers that were given to the same prompts before anything was killed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import httpx

from tests.chaos.doors.readers import Door, Read, Reader
from tests.support.launched import LaunchedProduct
from tests.support.product import Product

_GENERATIONS = (
    "SELECT g.id, g.organization_id, g.state, g.error_code, g.replica, g.message_id, g.endpoint,"
    " g.input_tokens AS input, g.output_tokens AS output, u.input_tokens AS billed_input,"
    " u.output_tokens AS billed_output, m.text, m.status"
    " FROM generation_generation g"
    " LEFT JOIN billing_usagerecord u ON u.generation_id = g.id"
    " LEFT JOIN conversations_message m ON m.id = g.message_id"
    " WHERE g.organization_id = ANY(%s)"
)
_PAGE = {"page", "page_cancels"}
_MAX_DIFFERENCE = 2

Row = dict[str, Any]


def counted_by(engine_url: str, key: str) -> Callable[[str], int]:
    """Counts tokens by asking an engine."""
    client = httpx.Client(
        base_url=engine_url, headers={"Authorization": f"Bearer {key}"}, timeout=60
    )

    def count(text: str) -> int:
        body = {"prompt": text, "add_special_tokens": False}
        answer = client.post("/tokenize", json=body).raise_for_status().json()
        return int(answer["count"])

    return count


def kind_of(door: Door) -> str:
    """The page adds the product's own prompt, so that its answers are others than the API's."""
    return "page" if door in _PAGE else "api"


class Agreement:
    """The check of one run.

    Args:
        right: the text that each prompt got before anything was killed, by kind of door.
        tokens_of: counts a text's tokens.

    Attributes:
        checked: so many were read.
        equal: so many texts are the beginning of the right one. The others took another turn where
            two tokens are as likely to the last bits, which depend on the batch.
    """

    def __init__(
        self,
        product: LaunchedProduct | Product,
        readers: Sequence[Reader],
        right: Mapping[tuple[str, str], str],
        tokens_of: Callable[[str], int],
    ) -> None:
        self._tokens_of = tokens_of
        self.checked = self.equal = 0
        self._right = right
        organizations = [UUID(reader.person.organization_id) for reader in readers]
        rows = product.rows(_GENERATIONS, [organizations])
        self.rows: dict[UUID, Row] = {row["id"]: row for row in rows}
        self._product = product
        self._organizations = organizations

    def check_ledger(self) -> None:
        """Each generation has ended and has one record, which says what its row says."""
        counted = (
            "SELECT count(*) AS count FROM billing_usagerecord WHERE organization_id = ANY(%s)"
        )
        [records] = self._product.rows(counted, [self._organizations])
        assert records["count"] == len(self.rows)
        for row in self.rows.values():
            assert row["state"] in {"completed", "cancelled", "failed"}, row
            assert (row["billed_input"], row["billed_output"]) == (row["input"], row["output"]), row

    def check_read(self, read: Read) -> None:
        """What was read is what is stored and billed; nothing is missing or there twice."""
        self.checked += 1
        self.equal += self._right[kind_of(read.door), read.prompt].startswith(read.text)
        if read.generation_id is None:
            assert read.door not in _PAGE or not read.text, read
            if read.reported is not None:
                self._check_length(read, read.reported[1])
            return
        row = self.rows[read.generation_id]
        assert read.failed == (row["state"] == "failed") or not read.is_whole, (read, row)
        if read.reported is not None:
            assert read.reported == (row["billed_input"], row["billed_output"]), (read, row)
        self._check_length(read, row["billed_output"])
        if row["message_id"] is not None and read.is_whole:
            assert row["text"] == read.text, (read, row)

    def _check_length(self, read: Read, billed: int) -> None:
        """By the model's own tokenizer. A text may have other tokens than those that it was made
        of, by one or two at its ends; what a failover loses or repeats would be more."""
        tokens = self._tokens_of(read.text)
        assert tokens <= billed + _MAX_DIFFERENCE, (read, tokens, billed)
        assert not read.is_whole or tokens >= billed - _MAX_DIFFERENCE, (read, tokens, billed)

    def check_batch(self, reader: Reader, lines: Sequence[Read]) -> None:
        """Each line that came back is billed once."""
        own = UUID(reader.person.organization_id)
        rows = [row for row in self.rows.values() if row["organization_id"] == own]
        billed = Counter(
            (row["billed_input"], row["billed_output"])
            for row in rows
            if row["state"] == "completed"
        )
        assert billed == Counter(line.reported for line in lines if not line.failed)

    @property
    def reasons(self) -> Counter[str]:
        """Why generations failed, and whether an engine had begun them. `lost` are those whose
        process and stream were both gone."""
        failed = (row for row in self.rows.values() if row["state"] == "failed")
        return Counter(
            f"{row['error_code']} {'while' if row['replica'] or row['output'] else 'before'} it ran"
            for row in failed
        )
