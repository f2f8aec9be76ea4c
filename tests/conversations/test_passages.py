"""How passages of long files are found: by words, by meaning, and both together."""

from uuid import uuid4

import numpy as np
import pytest

from backend.conversations.models import Attachment, Passage
from backend.conversations.passages import Embedding, embeddings_store, passages_search, unit
from backend.conversations.ranking import combined, weights
from tests.factories import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def attachment():
    user = member()
    return Attachment.objects.create(
        organization_id=user.organization_id,
        user_id=user.user_id,
        kind="document",
        filename="book.pdf",
        content_type="application/pdf",
        size=1,
        file="attachments/none",
    )


def keep(attachment, *texts):
    rows = [
        Passage(attachment=attachment, position=at, place=f"page {at + 1}", text=text)
        for at, text in enumerate(texts)
    ]
    return Passage.objects.bulk_create(rows)


def search(attachment, question, **options):
    found = passages_search(attachment.passages.all(), [attachment.pk], question, **options)
    return [one.place for one in found]


def test_other_form_of_a_word_is_found(attachment):
    keep(attachment, "Ships enter the port.", "Prices were rising in spring.", "Tea at four.")

    assert search(attachment, "Did the price rise?") == ["page 2"]


def test_rare_word_counts_more_than_a_frequent_one(attachment):
    keep(attachment, *["The harbour office is open."] * 9, "The office of the notary is shut.")

    assert search(attachment, "Is the office of the notary open?")[0] == "page 10"


def test_question_without_any_word_of_the_file_is_given_its_beginning(attachment):
    keep(attachment, "Alpha.", "Beta.", "Gamma.")

    assert search(attachment, "Was steht hier?", limit=2) == ["page 1", "page 2"]


def test_meaning_finds_what_no_word_does(attachment):
    rows = keep(attachment, "Automobiles are parked behind the house.", "Tea is served at four.")
    embeddings_store(rows, [[1.0, 0.1], [0.0, 1.0]], model="tiny")

    meant = Embedding("tiny", unit([1.0, 0.0]))
    assert search(attachment, "Where do I leave my car?", embedding=meant)[0] == "page 1"


def test_vectors_of_another_model_are_not_compared(attachment):
    rows = keep(attachment, "Cars.", "Tea at four.")
    embeddings_store(rows, [[1.0, 0.0], [0.0, 1.0]], model="older")

    meant = Embedding("newer", unit([1.0, 0.0]))
    assert search(attachment, "When is tea?", embedding=meant) == ["page 2"]


def test_vector_is_kept_as_its_direction(attachment):
    [row] = keep(attachment, "Cars.")
    embeddings_store([row], [[3.0, 4.0]], model="tiny")

    row.refresh_from_db()
    kept = np.frombuffer(bytes(row.embedding), dtype=np.float16)
    assert kept == pytest.approx([0.6, 0.8], abs=1e-3)


def test_passages_of_other_files_are_never_searched(attachment):
    keep(attachment, "The safe's code is 1.")
    other = Attachment.objects.get(pk=attachment.pk)
    other.pk = uuid4()
    other.save(force_insert=True)
    keep(other, "The safe's code is 2.")

    assert search(attachment, "code of the safe") == ["page 1"]
    found = passages_search(attachment.passages.all(), [attachment.pk, other.pk], "code")
    assert {one.attachment_id for one in found} == {attachment.pk}


def test_order_sums_words_and_standardized_cosines():
    cosines = {"far": 0.1, "near": 0.3, "middle": 0.2}  # 0.082 apart: -1.22, 1.22 and 0

    assert combined({}, cosines) == ["near", "middle", "far"]
    assert combined({"far": 8.0}, cosines) == ["near", "far", "middle"]  # 2 - 1.22
    assert combined({"far": 12.0}, cosines) == ["far", "near", "middle"]
    # One whose meaning is not known counts as of mean nearness.
    assert combined({"unknown": 1.0}, cosines) == ["near", "unknown", "middle", "far"]
    assert combined({"b": 1.0, "a": 2.0}, {}) == ["a", "b"]
    assert combined({"b": 1.0}, {"a": 0.5, "b": 0.5}) == ["b"]
    assert combined({}, {}) == []


def test_weight_falls_with_the_length_of_a_document():
    weighed = weights([("short", 5, "tide", 1), ("long", 500, "tide", 1)], count=9, average=100)

    assert weighed["short"] > weighed["long"] > 0
