"""Frameworks' clients against the running product: what they send, what they make of answers."""

from typing import Any, Literal

import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from pydantic import BaseModel, SecretStr

from tests.support.product import Product

MODEL = "smollm2-135m"
ASK = "What is the weather in Rome?"
pytestmark = pytest.mark.model


@tool
def get_weather(city: Literal["Paris", "Rome"]) -> str:
    """The weather of a city."""
    return f"Sunny in {city}, 21 degrees."


class City(BaseModel):
    """A city."""

    name: Literal["Paris", "Rome"]
    inhabitants: int


@pytest.fixture
def options(product: Product, secret: str) -> dict[str, Any]:
    return {
        "base_url": f"{product.url}/v1",
        "api_key": SecretStr(secret),
        "model": MODEL,
        "temperature": 0,
        "max_retries": 1,
    }


@pytest.fixture
def chain(options: dict[str, Any]) -> ChatOpenAI:
    return ChatOpenAI(**options, max_completion_tokens=40)


@pytest.mark.parametrize("responses", [False, True])
def test_langchain_chats_and_streams(options: dict[str, Any], responses: bool) -> None:
    chain = ChatOpenAI(**options, max_completion_tokens=8, use_responses_api=responses)
    whole = chain.invoke([HumanMessage("Say hello.")])
    assert whole.text and whole.usage_metadata is not None
    asked: dict[str, Any] = {} if responses else {"stream_usage": True}
    streamed = list(chain.stream([HumanMessage("Say hello.")], **asked))
    assert "".join(chunk.text for chunk in streamed) == whole.text
    counted = [chunk.usage_metadata for chunk in streamed if chunk.usage_metadata]
    assert counted[-1]["output_tokens"] == whole.usage_metadata["output_tokens"]


def test_langchain_calls_tools_over_turns(chain: ChatOpenAI) -> None:
    forced = chain.bind_tools([get_weather], tool_choice="get_weather", strict=True)
    first = forced.invoke([HumanMessage(ASK)])
    assert isinstance(first, AIMessage)
    [call] = first.tool_calls
    assert call["args"]["city"] in {"Paris", "Rome"}
    result = get_weather.invoke(call)
    assert isinstance(result, ToolMessage)
    free = chain.bind_tools([get_weather]).bind(max_completion_tokens=8)
    second = free.invoke([HumanMessage(ASK), first, result])
    assert isinstance(second, AIMessage)
    assert second.text or second.tool_calls


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_langchain_gives_its_own_type(chain: ChatOpenAI, method: Any) -> None:
    made = chain.with_structured_output(City, method=method).invoke("Name a city.")
    assert isinstance(made, City)


def test_langchains_older_interfaces_take_several_prompts(options: dict[str, Any]) -> None:
    plain = OpenAI(**options, max_tokens=4)
    assert len(plain.batch(["One, two,", "A, b,"])) == 2
    generated = plain.generate(["One, two,", "A, b,"], stop=["z"])
    assert [len(one) for one in generated.generations] == [1, 1]
    options.pop("temperature")
    vectors = OpenAIEmbeddings(**options, check_embedding_ctx_length=False)
    assert len(vectors.embed_documents(["one", "two"])) == 2


def test_langchain_tells_errors_apart(options: dict[str, Any]) -> None:
    wrong = ChatOpenAI(**{**options, "api_key": SecretStr("sk-parley-wrong")})
    with pytest.raises(openai.AuthenticationError):
        wrong.invoke("Hello")
    unknown = ChatOpenAI(**{**options, "model": "none"})
    with pytest.raises(openai.NotFoundError):
        unknown.invoke("Hello")
