"""The list of mutations fits the code and the table of docs/security.md."""

import pytest

from tests.asvs.mutation import ROOT, Mutation
from tests.asvs.mutations import MUTATIONS
from tests.asvs.table import lines_with_tests


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_mutation_breaks_code_that_is_there(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    changed = mutation.applied_to(text)
    assert changed != text
    if mutation.file.endswith(".py"):
        compile(changed, mutation.file, "exec")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_table_names_file_that_has_to_fail(mutation: Mutation) -> None:
    lines = lines_with_tests()
    for line in mutation.lines:
        assert mutation.test_file in lines[line], f"{line} names {lines[line]}"
    assert (ROOT / mutation.test_file).is_file()
