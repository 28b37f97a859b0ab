"""Writers of agents whose records name their parent (`made_talks`)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from made_talks import (
    CLAUDES,
    IMAGE,
    OPENAIS,
    SEAL,
    Answer,
    Result,
    Writer,
)

Json = Any

_APIS = {"anthropic": "anthropic-messages", "openai": "openai-responses"}


class _Tree(Writer):
    """Records that name their parent, so that a turn is taken back by another."""

    link = "parentUuid"
    key = "uuid"

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.last: str | None = None

    def place(self) -> Json:
        return self.last

    def back(self, place: Json) -> None:
        self.last = place

    def grow(self, **record: Json) -> str:
        """A new record behind the last one."""
        id = self.id()
        self.add({self.link: self.last, self.key: id, **record})
        self.last = id
        return id


class ClaudeCode(_Tree):
    models = CLAUDES

    def head(self, **more: Json) -> Json:
        head = {"isSidechain": False, "sessionId": "s", "version": "2.1.197"}
        return {**head, "cwd": "/w", "userType": "external", **more}

    def said(self, role: str, content: Json, **more: Json) -> str:
        message = {"role": role, "content": content}
        return self.grow(**self.head(type=role, message=message, **more))

    def ask(self, text: str, image: bool) -> None:
        if not image:
            self.said("user", text, promptId=self.id())
            return
        source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
        parts = [{"type": "text", "text": text}, {"type": "image", "source": source}]
        self.said("user", parts)
        self.said(
            "user", [{"type": "text", "text": "[Image: source: /i]"}], isMeta=True
        )

    def block(self, id: str, block: Json, **more: Json) -> str:
        message = {"id": id, "type": "message", "role": "assistant", "content": [block]}
        message |= {"model": self.model, "stop_reason": None, "usage": {}}
        return self.grow(**self.head(type="assistant", message=message, **more))

    def answer(self, answer: Answer) -> None:
        id = self.id("msg_")
        self.parents: dict[str, str] = {}
        if answer.thinking:
            # Newer models give no text of their thinking.
            thinking = self.chosen.choice((answer.thinking, ""))
            block = {"type": "thinking", "thinking": thinking, "signature": SEAL}
            self.block(id, block)
            if self.chosen.random() < 0.1:
                self.block(id, {"type": "redacted_thinking", "data": SEAL})
        if answer.text:
            self.block(id, {"type": "text", "text": answer.text})
        for call in answer.calls:
            use = {"type": "tool_use", "id": call.id, "name": call.name}
            block = {**use, "input": call.arguments, "caller": {"type": "direct"}}
            self.parents[call.id] = self.block(id, block)

    def results(self, results: Sequence[Result]) -> None:
        """Each result continues the block of its call, in any order."""
        for each in self.chosen.sample(results, len(results)):
            self.last = self.parents[each.call.id]
            if self.chosen.random() < 0.2:  # older versions
                self.grow(**self.head(type="progress", data={"type": "bash_progress"}))
            part = {"type": "tool_result", "tool_use_id": each.call.id}
            part["content"] = self.chosen.choice(
                (each.text, [{"type": "text", "text": each.text}])
            )
            failed = {"is_error": True} if each.failed else {}
            owner = self.parents[each.call.id]
            self.said(
                "user",
                [{**part, **failed}],
                toolUseResult={"stdout": each.text},
                sourceToolAssistantUUID=owner,
            )

    def interrupted(self, answer: Answer) -> None:
        super().interrupted(answer)
        why = " for tool use" if answer.calls else ""
        text = f"[Request interrupted by user{why}]"
        self.said("user", [{"type": "text", "text": text}])

    def compacted(self, summary: str) -> None:
        before, self.last = self.last, None
        metadata = {"trigger": "auto", "preTokens": 9}
        self.grow(
            **self.head(type="system", subtype="compact_boundary"),
            content="Conversation compacted",
            logicalParentUuid=before,
            compactMetadata=metadata,
        )
        self.said("user", summary, isCompactSummary=True)

    def aside(self, text: str, answer: Answer) -> None:
        """Older versions keep what a sub-agent says in the same file."""
        last, self.last = self.last, None
        head = {"isSidechain": True, "agentId": "a"}
        message = {"role": "user", "content": text}
        self.grow(**{**self.head(type="user", message=message), **head})
        self.block(self.id("msg_"), {"type": "text", "text": answer.text}, **head)
        self.last = last

    def switched(self) -> None:
        super().switched()
        name = "<command-name>/model</command-name>"
        self.said(
            "user", "<local-command-caveat>no</local-command-caveat>", isMeta=True
        )
        self.said("user", name)
        self.said("user", "<local-command-stdout>Set.</local-command-stdout>")

    def noise(self) -> None:
        kind = self.chosen.randrange(5)
        if kind == 0:
            snapshot = {"messageId": self.id(), "snapshot": {"trackedFileBackups": {}}}
            self.add({"type": "file-history-snapshot", **snapshot})
        elif kind == 1:
            self.add(
                {"type": "queue-operation", "operation": "enqueue", "content": "x"}
            )
        elif kind == 2:
            self.grow(**self.head(type="attachment", attachment={"type": "todo"}))
        elif kind == 3:
            head = self.head(type="system", subtype="turn_duration", durationMs=9)
            self.grow(**head)
        else:
            text = {"type": "text", "text": "API Error: 529"}
            message = {"id": self.id(), "role": "assistant", "content": [text]}
            message["model"] = "<synthetic>"
            head = self.head(type="assistant", isApiErrorMessage=True, message=message)
            self.grow(**head)


class Pi(_Tree):
    models = (*CLAUDES, *OPENAIS, ("groq", "kimi-k2"))
    link, key = "parentId", "id"

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.add({"type": "session", "version": 3, "id": "s", "cwd": "/w"})

    def said(self, role: str, content: Json, **more: Json) -> None:
        message = {"role": role, "content": content, **more}
        self.grow(type="message", message=message)

    def ask(self, text: str, image: bool) -> None:
        picture = {"type": "image", "data": IMAGE, "mimeType": "image/png"}
        self.said("user", [{"type": "text", "text": text}, *([picture] * image)])

    def answer(self, answer: Answer, stopped: str = "stop") -> None:
        content: list[Json] = []
        if answer.thinking:
            seal = {"thinkingSignature": SEAL} if self.provider == "anthropic" else {}
            content.append({"type": "thinking", "thinking": answer.thinking, **seal})
        if answer.text:
            content.append({"type": "text", "text": answer.text})
        for each in answer.calls:
            call = {"type": "toolCall", "id": each.id, "name": each.name}
            content.append({**call, "arguments": each.arguments})
        api = _APIS.get(self.provider, "openai-completions")
        names = {"api": api, "provider": self.provider, "model": self.model}
        self.said("assistant", content, **names, stopReason=stopped)

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            content = [{"type": "text", "text": each.text}]
            names = {"toolCallId": each.call.id, "toolName": each.call.name}
            self.said("toolResult", content, **names, isError=each.failed)

    def interrupted(self, answer: Answer) -> None:
        self.answer(Answer(answer.thinking, answer.text), "aborted")

    def compacted(self, summary: str) -> None:
        self.grow(type="compaction", summary=summary, firstKeptEntryId=self.last)

    def switched(self) -> None:
        super().switched()
        self.grow(type="model_change", provider=self.provider, modelId=self.model)

    def noise(self) -> None:
        self.grow(type="thinking_level_change", thinkingLevel="high")


class QwenCode(_Tree):
    models = (("", "qwen3-coder-plus"), ("", "qwen3-max"))

    def said(self, type: str, parts: list[Json], **more: Json) -> None:
        role = "model" if type == "assistant" else "user"
        self.grow(type=type, message={"role": role, "parts": parts}, **more)

    def ask(self, text: str, image: bool) -> None:
        picture = {"inlineData": {"mimeType": "image/png", "data": IMAGE}}
        self.said("user", [{"text": text}, *([picture] * image)])

    def answer(self, answer: Answer) -> None:
        parts: list[Json] = []
        if answer.thinking:
            parts.append({"text": answer.thinking, "thought": True})
        if answer.text:
            parts.append({"text": answer.text})
        for each in answer.calls:
            call = {"id": each.id, "name": each.name, "args": each.arguments}
            parts.append({"functionCall": call})
        self.said("assistant", parts, model=self.model)

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            member = "error" if each.failed else "output"
            response = {"id": each.call.id, "name": each.call.name}
            response["response"] = {member: each.text}
            about = {"callId": each.call.id, "status": "success"}
            parts = [{"functionResponse": response}]
            self.said("tool_result", parts, toolCallResult=about)

    def compacted(self, summary: str) -> None:
        history = [
            {"role": "user", "parts": [{"text": summary}]},
            {"role": "model", "parts": [{"text": "Got it."}]},
        ]
        payload = {"compressedHistory": history, "info": {}}
        names = {"type": "system", "subtype": "chat_compression"}
        self.grow(**names, systemPayload=payload)

    def noise(self) -> None:
        names = {"type": "system", "subtype": "ui_telemetry"}
        self.grow(**names, systemPayload={"uiEvent": {}})
