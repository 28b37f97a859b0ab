"""Sound sessions of every agent, as the agent writes them: a writer for each.

`made` gives the records of a seed. `made_talks` has the talks that the writers keep;
`made_trees` and `made_logs` have the writers of trees and logs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from made_logs import Codex, CopilotCli, GeminiCli, KimiCli, KimiCode
from made_talks import (
    CLAUDES,
    GOOGLES,
    IMAGE,
    OPENAIS,
    SEAL,
    STATE,
    Answer,
    Result,
    Writer,
    tell,
)
from made_trees import ClaudeCode, Pi, QwenCode

Json = Any


def made(agent: str, seed: int) -> list[Json]:
    """The records of a sound session of an ``agent``."""
    writer = WRITERS[agent](random.Random(f"{agent} {seed}"))
    tell(writer)
    return writer.session()


# --- Rows -----------------------------------------------------------------------------


class Opencode(Writer):
    models = (*CLAUDES, *OPENAIS, *GOOGLES, ("groq", "kimi-k2"))

    def message(self, role: str, **info: Json) -> str:
        self.owner = self.id("msg_")
        info = {"role": role, "time": {"created": self.count}, **info}
        self.add({"id": self.owner, "session_id": "s", "data": info})
        return self.owner

    def part(self, type: str, **data: Json) -> Json:
        row = {"id": self.id("prt_"), "message_id": self.owner, "session_id": "s"}
        self.add({**row, "data": {"type": type, **data}})

    def names(self) -> Json:
        return {"providerID": self.provider, "modelID": self.model}

    def ask(self, text: str, image: bool) -> None:
        self.asked = self.message("user", model=self.names())
        self.is_answered = False
        self.part("text", text=text)
        if image:
            url = f"data:image/png;base64,{IMAGE}"
            self.part("file", mime="image/png", filename="a.png", url=url)

    def answer(self, answer: Answer, **info: Json) -> None:
        self.message("assistant", **self.names(), parentID=self.asked, **info)
        self.part("step-start")
        if answer.thinking:
            self.part("reasoning", text=answer.thinking, metadata=self.seal())
        if answer.text:
            self.part("text", text=answer.text)
        self.rows: dict[str, Json] = {}
        for each in answer.calls:
            state = {"status": "running", "input": each.arguments}
            call = {"callID": each.id, "tool": each.name, "state": state}
            signed = self.seal() if self.provider == "google" else {}
            self.part("tool", **call, metadata=signed)
            self.rows[each.id] = state
        self.part("step-finish", reason="stop")

    def seal(self) -> Json:
        seals = {
            "anthropic": {"anthropic": {"signature": SEAL}},
            "google": {"google": {"thoughtSignature": SEAL}},
        }
        state = {"itemId": self.id("rs_"), "reasoningEncryptedContent": STATE}
        return {**seals, "openai": {"openai": state}}.get(self.provider, {})

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            end = {"status": "completed", "output": each.text, "time": {}}
            failed = {"status": "error", "error": each.text}
            self.rows[each.call.id].update(failed if each.failed else end)

    def interrupted(self, answer: Answer) -> None:
        self.answer(answer, error={"name": "MessageAbortedError", "data": {}})
        self.results([Result(each, "Aborted.", True) for each in answer.calls])

    def compacted(self, summary: str) -> None:
        owner = self.message("user", model=self.names())
        self.part("compaction", auto=True)
        names = {**self.names(), "parentID": owner}
        self.message("assistant", **names, summary=True, finish="stop")
        self.part("text", text=summary)


class Goose(Writer):
    models = (*CLAUDES, *OPENAIS, *GOOGLES)

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        config = {"model_name": self.model}
        named = {"provider_name": self.provider, "model_config_json": config}
        self.add({"id": "s", **named})

    def said(self, role: str, content: Json, is_sent: bool = True) -> None:
        shown = {"agentVisible": is_sent, "userVisible": True}
        row = {"id": self.id(), "session_id": "s", "role": role, "created_timestamp": 1}
        self.add({**row, "content_json": content, "metadata_json": shown})

    def ask(self, text: str, image: bool) -> None:
        picture = {"type": "image", "data": IMAGE, "mimeType": "image/png"}
        self.said("user", [{"type": "text", "text": text}, *([picture] * image)])

    def answer(self, answer: Answer) -> None:
        content: list[Json] = []
        if answer.thinking and self.provider == "anthropic":
            thinking = {"type": "thinking", "thinking": answer.thinking}
            content.append({**thinking, "signature": SEAL})
        if answer.text:
            content.append({"type": "text", "text": answer.text})
        for each in answer.calls:
            value = {"name": each.name, "arguments": each.arguments}
            call = {"status": "success", "value": value}
            content.append({"type": "toolRequest", "id": each.id, "toolCall": call})
        self.said("assistant", content)

    def results(self, results: Sequence[Result]) -> None:
        content = []
        for each in results:
            texts = [{"type": "text", "text": each.text}]
            result: Json = {"status": "success", "value": {"content": texts}}
            if each.failed:
                result = {"status": "error", "error": each.text}
            response = {"type": "toolResponse", "id": each.call.id}
            content.append({**response, "toolResult": result})
        self.said("user", content)

    def compacted(self, summary: str) -> None:
        for row in self.records[1:]:
            row["metadata_json"]["agentVisible"] = False
        self.said("user", [{"type": "text", "text": summary}])

    def switched(self) -> None:
        """goose keeps one model a session."""


class Crush(Writer):
    models = (*CLAUDES, *OPENAIS, ("groq", "kimi-k2"))

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.row: Json = {"id": "s", "title": "t", "summary_message_id": None}
        self.add(self.row)

    def said(self, role: str, parts: list[tuple[str, Json]], **more: Json) -> str:
        listed = [{"type": type, "data": data} for type, data in parts]
        row = {"id": self.id(), "session_id": "s", "role": role, "parts": listed}
        names = {"provider": self.provider, "model": self.model}
        self.add({**row, **(names if role == "assistant" else {}), **more})
        return str(row["id"])

    def ask(self, text: str, image: bool) -> None:
        picture = ("binary", {"Path": "a", "MIMEType": "image/png", "Data": IMAGE})
        self.said("user", [("text", {"text": text}), *([picture] * image)])

    def answer(self, answer: Answer) -> None:
        parts: list[tuple[str, Json]] = []
        if answer.thinking:
            data = {"thinking": answer.thinking, "signature": ""}
            if self.provider == "anthropic":
                data["signature"] = SEAL
            parts.append(("reasoning", data))
        parts.append(("text", {"text": answer.text}))
        for each in answer.calls:
            call = {"id": each.id, "name": each.name, "input": each.written}
            parts.append(("tool_call", {**call, "finished": True}))
        reason = "tool_use" if answer.calls else "end_turn"
        self.said("assistant", [*parts, ("finish", {"reason": reason})])

    def results(self, results: Sequence[Result]) -> None:
        parts = [
            (
                "tool_result",
                {
                    "tool_call_id": each.call.id,
                    "name": each.call.name,
                    "content": each.text,
                    "is_error": each.failed,
                },
            )
            for each in results
        ]
        self.said("tool", parts)

    def compacted(self, summary: str) -> None:
        parts = [("text", {"text": summary}), ("finish", {"reason": "end_turn"})]
        id = self.said("assistant", parts, is_summary_message=1)
        self.row["summary_message_id"] = id


# --- Documents ------------------------------------------------------------------------


class Messages(Writer):
    """A list of messages of Anthropic's API, in one document."""

    def said(self, role: str, content: Json, **more: Json) -> None:
        self.add({"role": role, "content": content, **more})

    def ask(self, text: str, image: bool) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
        picture = {"type": "image", "source": source}
        self.said("user", [{"type": "text", "text": text}, *([picture] * image)])

    def answer(self, answer: Answer) -> None:
        content: list[Json] = []
        if answer.thinking:
            thinking = {"type": "thinking", "thinking": answer.thinking}
            content.append({**thinking, "signature": SEAL})
        if answer.text:
            content.append({"type": "text", "text": answer.text})
        for each in answer.calls:
            use = {"type": "tool_use", "id": each.id, "name": each.name}
            content.append({**use, "input": each.arguments})
        self.said("assistant", content)

    def results(self, results: Sequence[Result]) -> None:
        content = [
            {
                "type": "tool_result",
                "tool_use_id": each.call.id,
                "content": [{"type": "text", "text": each.text}],
                "is_error": each.failed,
            }
            for each in results
        ]
        self.said("user", content)

    def session(self) -> list[Json]:
        return [self.records]


class Cline(Messages):
    models = CLAUDES

    def said(self, role: str, content: Json, **more: Json) -> None:
        info = {"providerId": self.provider, "modelId": self.model, "mode": "act"}
        named = {"modelInfo": info} if role == "assistant" else {}
        super().said(role, content, ts=len(self.records), **named)


class Roo(Messages):
    def said(self, role: str, content: Json, **more: Json) -> None:
        super().said(role, content, ts=len(self.records), **more)

    def compacted(self, summary: str) -> None:
        id = self.id()
        for each in self.records:
            each.setdefault("condenseParent", id)
        content = [{"type": "text", "text": summary}]
        self.said("user", content, isSummary=True, condenseId=id)


class Continue(Writer):
    models = (("", "gpt-5.5"), ("", "claude-opus-4-8"))

    def said(self, **message: Json) -> None:
        self.add({"message": message, "contextItems": []})

    def ask(self, text: str, image: bool) -> None:
        url = {"url": f"data:image/png;base64,{IMAGE}"}
        parts = [{"type": "text", "text": text}, {"type": "imageUrl", "imageUrl": url}]
        self.said(role="user", content=parts if image else text)

    def answer(self, answer: Answer) -> None:
        calls = [
            {
                "id": each.id,
                "type": "function",
                "function": {"name": each.name, "arguments": each.written},
            }
            for each in answer.calls
        ]
        named = {"toolCalls": calls} if calls else {}
        usage = {"model": self.model}
        self.said(role="assistant", content=answer.text, **named, usage=usage)
        self.states = self.records[-1].setdefault("toolCallStates", [])
        for call in calls:
            self.states.append({"toolCallId": call["id"], "status": "generated"})

    def results(self, results: Sequence[Result]) -> None:
        for state, each in zip(self.states, results, strict=True):
            output = [] if each.failed else [{"content": each.text, "name": "out"}]
            state.update(status="canceled" if each.failed else "done", output=output)

    def session(self) -> list[Json]:
        named = {"sessionId": "s", "title": "t", "workspaceDirectory": "/w"}
        return [{**named, "history": self.records}]


WRITERS: dict[str, type[Writer]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "pi": Pi,
    "gemini-cli": GeminiCli,
    "qwen-code": QwenCode,
    "copilot-cli": CopilotCli,
    "kimi-code": KimiCode,
    "kimi-cli": KimiCli,
    "opencode": Opencode,
    "goose": Goose,
    "crush": Crush,
    "continue": Continue,
    "roo": Roo,
    "cline": Cline,
    "messages": Messages,
}
"""The agent's name in `FORMATS` -> its writer."""


def copied(records: list[Json]) -> list[Json]:
    """The records as they are read from their file."""
    return [json.loads(json.dumps(record)) for record in records]
