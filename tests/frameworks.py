"""LangChain, LiteLLM and pydantic-ai over a cleaning transport, in an environment of
their own: ``python3 tests/frameworks.py``.

Each asks a server, whole and streamed. The server's answers leak, and it refuses a
request that leaks. It is a transport of ours, so no request leaves the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from environment import ROOT, enter

LEAKS = ("<thi", "nk>2 + 2</think>Fo", "ur.")
HISTORY = [
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "<think>2 + 2</think>Four."},
    {"role": "user", "content": "Sure?"},
]
SHARED = {"id": "c", "created": 1, "model": "m"}
KEY = {"api_key": "k"}


def main() -> int:
    os.environ.setdefault("SIDECAR_VENV", str(ROOT / ".venv-frameworks"))
    if (code := enter(__file__, "frameworks")) is not None:
        return code
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    failed = 0
    for each in (_langchain, _litellm, _pydantic_ai):
        answers = asyncio.run(each())
        failed += {*answers} != {"Four."}
        print(each.__name__.strip("_"), answers, flush=True)
    return bool(failed)


async def _langchain() -> list[Any]:
    from langchain_openai import ChatOpenAI

    plain, waiting = _clients()
    model = ChatOpenAI(model="m", **KEY, http_client=plain, http_async_client=waiting)
    return [
        model.invoke(HISTORY).content,
        "".join(each.content for each in model.stream(HISTORY)),
        (await model.ainvoke(HISTORY)).content,
        "".join([each.content async for each in model.astream(HISTORY)]),
    ]


async def _litellm() -> list[Any]:
    import litellm

    litellm.client_session, litellm.aclient_session = _clients()
    ask = {"model": "openai/m", **KEY, "messages": HISTORY}
    whole = litellm.completion(**ask), await litellm.acompletion(**ask)
    stream = litellm.completion(**ask, stream=True)
    waiting = await litellm.acompletion(**ask, stream=True)
    return [
        *(each.choices[0].message.content for each in whole),
        "".join(each.choices[0].delta.content or "" for each in stream),
        "".join([each.choices[0].delta.content or "" async for each in waiting]),
    ]


async def _pydantic_ai() -> list[Any]:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(**KEY, http_client=_clients()[1])
    agent = Agent(OpenAIChatModel("m", provider=provider))
    first = await agent.run("2 + 2?")
    history = first.all_messages()
    async with agent.run_stream("Sure?", message_history=history) as second:
        return [first.output, await second.get_output()]


def _clients() -> tuple[Any, Any]:
    """A client, and one for asyncio."""
    import httpx2

    from stream_sidecar.transports import httpx2 as clean

    server = httpx2.MockTransport(_answer)
    return (
        httpx2.Client(transport=clean.CleaningTransport(server)),
        httpx2.AsyncClient(transport=clean.AsyncCleaningTransport(server)),
    )


def _answer(request: Any) -> Any:
    import httpx2

    body = json.loads(request.content)
    if "think" in json.dumps(body["messages"]):
        return httpx2.Response(400, json={"error": {"message": "it leaks"}})
    if not body.get("stream"):
        message = {"role": "assistant", "content": "".join(LEAKS)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {**SHARED, "object": "chat.completion", "choices": [choice]}
        return httpx2.Response(200, json=whole)
    lines = (f"data: {json.dumps(each)}\n\n" for each in _documents())
    headers = {"content-type": "text/event-stream"}
    content = "".join(lines) + "data: [DONE]\n\n"
    return httpx2.Response(200, headers=headers, content=content.encode())


def _documents() -> Iterator[dict[str, Any]]:
    for number, delta in enumerate([*({"content": each} for each in LEAKS), {}]):
        reason = "stop" if number == len(LEAKS) else None
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield {**SHARED, "object": "chat.completion.chunk", "choices": [choice]}


if __name__ == "__main__":
    sys.exit(main())
