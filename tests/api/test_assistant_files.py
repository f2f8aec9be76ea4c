"""Files of an assistant: who adds, reads and removes them, and that the model reads them in every
chat with it, for as long as its person sees the assistant."""

from collections.abc import Iterator

import pytest

from tests.api.test_assistants import colleague, new_assistant
from tests.api.test_documents import ask, pdf_of, prompt_with, sources, upload
from tests.api.test_project_files import question_is_sent
from tests.api.users import Person, sign_up
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def owner(scripted_product: ScriptedProduct) -> Iterator[Person]:
    scripted_product.says("Noted.")
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def add(user: Person, assistant: str, file: str) -> int:
    answer = user.browser.post(f"/api/assistants/{assistant}/files", json={"attachment_id": file})
    return answer.status_code


def test_chat_reads_files_of_its_assistant_and_of_its_project(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    assistant = new_assistant(owner)["id"]
    project = owner.browser.post("/api/projects", json={"name": "House"}).json()["id"]
    assert add(owner, assistant, upload(owner, pdf_of(["Tea.", "Cake at five."]), "tea.pdf")) == 201
    gate = upload(owner, b"The gate opens at seven.", "gate.txt")
    added = owner.browser.post(f"/api/projects/{project}/files", json={"attachment_id": gate})
    assert added.status_code == 201, added.text

    scripted_product.says("At five [tea.pdf, page 2].")
    chat = owner.new_conversation(assistant_id=assistant, project_id=project)
    answer = ask(owner, chat, "When does this assistant eat cake?")
    prompt = prompt_with(scripted_product, "When does this assistant eat cake?")
    assert "[page 2]\nCake at five." in prompt
    assert "The gate opens at seven." in prompt
    assert [(one["filename"], one["place"]) for one in sources(owner, answer)] == [
        ("tea.pdf", "page 2")
    ]


def test_files_of_an_assistant_are_read_by_its_users_and_changed_by_its_editors(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    assistant = new_assistant(owner)["id"]
    path = f"/api/assistants/{assistant}"
    file = upload(owner, b"The key lies under the mat.", "key.txt")
    assert add(owner, assistant, file) == 201
    member = colleague(scripted_product, owner, "member")
    assert member.browser.get(f"{path}/files").status_code == 404
    assert member.browser.get(f"/api/attachments/{file}").status_code == 404

    assert owner.browser.patch(path, json={"seen_by": ["member"]}).status_code == 200
    [listed] = member.browser.get(f"{path}/files").json()["data"]
    assert (listed["filename"], listed["size"]) == ("key.txt", 27)
    assert member.browser.get(f"/api/attachments/{file}").status_code == 200
    mine = upload(member, b"The bell is broken.", "bell.txt")
    assert add(member, assistant, mine) == 403
    assert member.browser.delete(f"{path}/files/{file}").status_code == 403
    chat = member.new_conversation(assistant_id=assistant)
    answer = ask(member, chat, "Where does the key lie?")
    assert "under the mat" in question_is_sent(scripted_product, "Where does the key lie?")

    assert owner.browser.patch(path, json={"edited_by": ["member"]}).status_code == 200
    assert add(member, assistant, mine) == 201
    assert member.browser.delete(f"{path}/files/{file}").status_code == 204
    ask(member, chat, "And where is it now?")
    after = question_is_sent(scripted_product, "And where is it now?")
    assert "The bell is broken." in after
    assert "under the mat" not in after

    assert owner.browser.patch(path, json={"seen_by": [], "edited_by": []}).status_code == 200
    ask(member, chat, "What of the bell by now?")
    assert "broken" not in question_is_sent(scripted_product, "What of the bell by now?")
    sent = member.browser.get(f"/api/messages/{answer}/sent").json()
    assert "under the mat" not in str(sent["messages"])
    member.browser.close()


def test_files_of_an_assistant_that_is_deleted_are_the_purges(
    owner: Person, scripted_product: ScriptedProduct
) -> None:
    assistant = new_assistant(owner)["id"]
    file = upload(owner, b"The roof leaks.", "roof.txt")
    assert add(owner, assistant, file) == 201
    chat = owner.new_conversation(assistant_id=assistant)
    assert owner.browser.delete(f"/api/assistants/{assistant}").status_code == 204
    ask(owner, chat, "What of the roof?")
    assert "leaks" not in question_is_sent(scripted_product, "What of the roof?")
    [row] = scripted_product.rows(
        "SELECT conversation_id, project_id, assistant_id FROM conversations_attachment"
        " WHERE id = %s",
        [file],
    )
    assert set(row.values()) == {None}


def test_upload_of_another_organization_becomes_no_assistants(owner: Person) -> None:
    other = sign_up(str(owner.browser.base_url))
    theirs = upload(other, b"Of another organization.", "theirs.txt")
    assistant = new_assistant(owner)["id"]
    assert add(owner, assistant, theirs) == 404
    assert add(other, assistant, theirs) == 404
    other.browser.close()
