"""The documents in which a provider streams an answer, wire by wire, and what the
requests of that wire hold.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

Document = dict[str, Any]
#: Characters of a piece, and where an answer counts as long.
_PIECE, _LONG, _LONG_PIECE = 5, 5_000, 500


@dataclass(frozen=True)
class Text:
    words: str


@dataclass(frozen=True)
class Reasoning:
    words: str
    signature: str = "c2lnbmF0dXJl"


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: dict[str, Any]


Part = Text | Reasoning | Call


@dataclass(frozen=True)
class Tool:
    name: str
    schema: dict[str, Any]


def pieces(words: str) -> list[str]:
    size = _LONG_PIECE if len(words) > _LONG else _PIECE
    return [words[at : at + size] for at in range(0, len(words), size)]


class Chat:
    """Chat Completions."""

    failure: ClassVar[Document] = {
        "error": {"message": "Overloaded", "type": "server_error", "code": 503}
    }
    end = "data: [DONE]\n\n"

    def history(self, body: Document) -> list[Any]:
        return [
            each
            for each in body["messages"]
            if each.get("role") not in ("system", "developer")
        ]

    def tools(self, body: Document) -> list[Tool]:
        functions = (each.get("function", {}) for each in body.get("tools") or ())
        return [
            Tool(each["name"], each.get("parameters", {})) for each in functions if each
        ]

    def calls(self, body: Document) -> list[Call]:
        made = (
            call for each in body["messages"] for call in each.get("tool_calls") or ()
        )
        return [
            Call(
                each["id"],
                each["function"]["name"],
                json.loads(each["function"]["arguments"]),
            )
            for each in made
        ]

    def stream(self, name: str, parts: list[Part]) -> Iterator[Document]:
        numbers = itertools.count()
        yield self._document(name, {"role": "assistant", "content": ""})
        for part in parts:
            if isinstance(part, Call):
                number = next(numbers)
                function = {"name": part.name, "arguments": ""}
                call = {
                    "index": number,
                    "id": part.id,
                    "type": "function",
                    "function": function,
                }
                yield self._document(name, {"tool_calls": [call]})
                for piece in pieces(json.dumps(part.arguments)):
                    fragment = {"index": number, "function": {"arguments": piece}}
                    yield self._document(name, {"tool_calls": [fragment]})
            else:
                member = "content" if isinstance(part, Text) else "reasoning_content"
                for piece in pieces(part.words):
                    yield self._document(name, {member: piece})

    def finish(self, name: str, parts: list[Part]) -> Iterator[Document]:
        reason = (
            "tool_calls" if any(isinstance(each, Call) for each in parts) else "stop"
        )
        yield self._document(name, {}, reason)
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        yield {**self._document(name, {}), "choices": [], "usage": usage}

    def _document(
        self, name: str, delta: Document, reason: str | None = None
    ) -> Document:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        shared = {
            "id": name,
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "test-model",
        }
        return {**shared, "choices": [choice]}


class Messages:
    """Anthropic's Messages."""

    failure: ClassVar[Document] = {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
    }
    end = ""

    def history(self, body: Document) -> list[Any]:
        return list(body["messages"])

    def tools(self, body: Document) -> list[Tool]:
        tools = body.get("tools") or ()
        return [
            Tool(each["name"], each["input_schema"])
            for each in tools
            if "input_schema" in each
        ]

    def calls(self, body: Document) -> list[Call]:
        blocks = (
            each["content"]
            for each in body["messages"]
            if isinstance(each["content"], list)
        )
        return [
            Call(each["id"], each["name"], each["input"])
            for each in itertools.chain.from_iterable(blocks)
            if each["type"] == "tool_use"
        ]

    def stream(self, name: str, parts: list[Part]) -> Iterator[Document]:
        usage = {"input_tokens": 100, "output_tokens": 1}
        message = {
            "id": name,
            "type": "message",
            "role": "assistant",
            "model": "test-model",
        }
        ends: Document = {
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield {"type": "message_start", "message": {**message, **ends}}
        yield {"type": "ping"}
        for number, part in enumerate(parts):
            block, deltas = self._block(part)
            yield {
                "type": "content_block_start",
                "index": number,
                "content_block": block,
            }
            for delta in deltas:
                yield {"type": "content_block_delta", "index": number, "delta": delta}
            yield {"type": "content_block_stop", "index": number}

    def finish(self, name: str, parts: list[Part]) -> Iterator[Document]:
        reason = (
            "tool_use" if any(isinstance(each, Call) for each in parts) else "end_turn"
        )
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}
        yield {"type": "message_stop"}

    def _block(self, part: Part) -> tuple[Document, list[Document]]:
        if isinstance(part, Text):
            deltas = [
                {"type": "text_delta", "text": piece} for piece in pieces(part.words)
            ]
            return {"type": "text", "text": ""}, deltas
        if isinstance(part, Reasoning):
            deltas = [
                {"type": "thinking_delta", "thinking": piece}
                for piece in pieces(part.words)
            ]
            signature = {"type": "signature_delta", "signature": part.signature}
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                *deltas,
                signature,
            ]
        given = pieces(json.dumps(part.arguments))
        deltas = [
            {"type": "input_json_delta", "partial_json": piece} for piece in given
        ]
        return {
            "type": "tool_use",
            "id": part.id,
            "name": part.name,
            "input": {},
        }, deltas


class Responses:
    """OpenAI's Responses."""

    failure: ClassVar[Document] = {
        "type": "response.failed",
        "response": {
            "id": "resp_failed",
            "object": "response",
            "status": "failed",
            "output": [],
            "error": {"code": "server_error", "message": "Overloaded"},
        },
    }
    end = ""

    def history(self, body: Document) -> list[Any]:
        return [
            each
            for each in body["input"]
            if each.get("role") not in ("system", "developer")
        ]

    def tools(self, body: Document) -> list[Tool]:
        tools = body.get("tools") or ()
        return [
            Tool(each["name"], each["parameters"])
            for each in tools
            if each["type"] == "function"
        ]

    def calls(self, body: Document) -> list[Call]:
        return [
            Call(each["call_id"], each["name"], json.loads(each["arguments"]))
            for each in body["input"]
            if each.get("type") == "function_call"
        ]

    def stream(self, name: str, parts: list[Part]) -> Iterator[Document]:
        yield {
            "type": "response.created",
            "response": self._response(name, "in_progress", []),
        }
        for number, part in enumerate(parts):
            item = self._item(name, number, part)
            at = {"item_id": item["id"], "output_index": number}
            empty: Document = (
                {"arguments": ""} if isinstance(part, Call) else {self._held(part): []}
            )
            begun = item | empty
            if not isinstance(part, Reasoning):
                begun["status"] = "in_progress"
            yield {
                "type": "response.output_item.added",
                "output_index": number,
                "item": begun,
            }
            for document in self._deltas(part, item):
                yield {**document, **at}
            yield {
                "type": "response.output_item.done",
                "output_index": number,
                "item": item,
            }

    def finish(self, name: str, parts: list[Part]) -> Iterator[Document]:
        output = [self._item(name, number, part) for number, part in enumerate(parts)]
        counts = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
        details = {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        response = {
            **self._response(name, "completed", output),
            "usage": {**counts, **details},
        }
        yield {"type": "response.completed", "response": response}

    def _response(self, name: str, status: str, output: list[Document]) -> Document:
        head = {
            "id": name,
            "object": "response",
            "created_at": 1,
            "model": "test-model",
        }
        return {
            **head,
            "status": status,
            "output": output,
            "error": None,
            "usage": None,
        }

    def _held(self, part: Part) -> str:
        return "summary" if isinstance(part, Reasoning) else "content"

    def _item(self, name: str, number: int, part: Part) -> Document:
        if isinstance(part, Text):
            content = [
                {
                    "type": "output_text",
                    "text": part.words,
                    "annotations": [],
                    "logprobs": [],
                }
            ]
            head = {"type": "message", "role": "assistant", "status": "completed"}
            return {**head, "id": f"msg_{name}_{number}", "content": content}
        if isinstance(part, Reasoning):
            summary = [{"type": "summary_text", "text": part.words}]
            return {
                "type": "reasoning",
                "id": f"rs_{name}_{number}",
                "summary": summary,
                "encrypted_content": "gAAAAABlbmNyeXB0ZWQ=",
            }
        head = {
            "type": "function_call",
            "id": f"fc_{part.id}",
            "call_id": part.id,
            "status": "completed",
        }
        return {**head, "name": part.name, "arguments": json.dumps(part.arguments)}

    def _deltas(self, part: Part, item: Document) -> Iterator[Document]:
        at: Document
        shell: Document
        if isinstance(part, Call):
            event, at, whole = (
                "function_call_arguments",
                {},
                {"arguments": item["arguments"]},
            )
        elif isinstance(part, Text):
            event, at, whole = (
                "output_text",
                {"content_index": 0, "logprobs": []},
                {"text": part.words},
            )
            shell = {"type": "response.content_part.added", "content_index": 0}
            yield {**shell, "part": {**item["content"][0], "text": ""}}
        else:
            event, at, whole = (
                "reasoning_summary_text",
                {"summary_index": 0},
                {"text": part.words},
            )
            shell = {
                "type": "response.reasoning_summary_part.added",
                "summary_index": 0,
            }
            yield {**shell, "part": {"type": "summary_text", "text": ""}}
        for piece in pieces(next(iter(whole.values()))):
            yield {"type": f"response.{event}.delta", **at, "delta": piece}
        yield {"type": f"response.{event}.done", **at, **whole}
        if not isinstance(part, Call):
            done = shell["type"].replace(".added", ".done")
            yield {**shell, "type": done, "part": item[self._held(part)][0]}


class Gemini:
    """generateContent."""

    failure: ClassVar[Document] = {
        "error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}
    }
    end = ""

    def history(self, body: Document) -> list[Any]:
        return list(body["contents"])

    def tools(self, body: Document) -> list[Tool]:
        declarations = (
            each
            for tool in body.get("tools") or ()
            for each in tool.get("functionDeclarations", ())
        )
        schemas = ("parametersJsonSchema", "parameters")
        return [
            Tool(each["name"], next((each[at] for at in schemas if at in each), {}))
            for each in declarations
        ]

    def calls(self, body: Document) -> list[Call]:
        made = (
            part.get("functionCall")
            for each in body["contents"]
            for part in each.get("parts", ())
        )
        return [
            Call(each.get("id", ""), each["name"], each.get("args", {}))
            for each in made
            if each
        ]

    def stream(self, name: str, parts: list[Part]) -> Iterator[Document]:
        for part in parts:
            if isinstance(part, Call):
                call = {"functionCall": {"name": part.name, "args": part.arguments}}
                yield self._document(name, {**call, "thoughtSignature": "c2lnbmF0dXJl"})
            else:
                thought = {"thought": True} if isinstance(part, Reasoning) else {}
                for piece in pieces(part.words):
                    yield self._document(name, {"text": piece, **thought})

    def finish(self, name: str, parts: list[Part]) -> Iterator[Document]:
        document = self._document(name, {"text": ""})
        document["candidates"][0]["finishReason"] = "STOP"
        yield document

    def _document(self, name: str, part: Document) -> Document:
        counts = {
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "totalTokenCount": 120,
        }
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
        return {
            "candidates": [candidate],
            "modelVersion": "test-model",
            "responseId": name,
            "usageMetadata": counts,
        }


Wire = Chat | Messages | Responses | Gemini


def wire_of(path: str) -> Wire | None:
    """The wire of a request, by its path."""
    ends: dict[str, Wire] = {
        "/chat/completions": Chat(),
        "/messages": Messages(),
        "/responses": Responses(),
        ":streamGenerateContent": Gemini(),
        ":generateContent": Gemini(),
    }
    return next((wire for end, wire in ends.items() if path.endswith(end)), None)
