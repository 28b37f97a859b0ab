"""Writers of agents that keep a log (`made_talks`)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from made_talks import (
    GOOGLES,
    IMAGE,
    OPENAIS,
    STATE,
    Answer,
    Call,
    Result,
    Writer,
)

Json = Any


class Codex(Writer):
    models = OPENAIS

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.is_numbered = chosen.random() < 0.5
        self.log("session_meta", id="s", model_provider="openai", cwd="/w")
        self.switched()
        self.said("developer", "<permissions instructions>")
        self.said("user", "<environment_context>/w</environment_context>")

    def log(self, kind: str, **payload: Json) -> None:
        number = {"ordinal": len(self.records)} if self.is_numbered else {}
        self.add({"timestamp": "2026", "type": kind, "payload": payload, **number})

    def said(self, role: str, *texts: str, image: bool = False) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text} for text in texts]
        url = f"data:image/png;base64,{IMAGE}"
        content += [{"type": "input_image", "image_url": url}] * image
        self.log("response_item", type="message", role=role, content=content)

    def ask(self, text: str, image: bool) -> None:
        self.said("user", text, image=image)
        self.log("event_msg", type="user_message", message=text)

    def answer(self, answer: Answer) -> None:
        if answer.thinking:
            summary = [{"type": "summary_text", "text": answer.thinking}]
            self.log(
                "response_item",
                type="reasoning",
                summary=self.chosen.choice(([], summary)),
                content=None,
                encrypted_content=STATE,
            )
        if answer.text:
            self.said("assistant", answer.text)
            self.log("event_msg", type="agent_message", message=answer.text)
        for call in answer.calls:
            names = {"name": call.name, "call_id": call.id}
            if self.is_custom(call):
                self.log("response_item", type="custom_tool_call", input="*", **names)
            else:
                written = {"arguments": call.written}
                self.log("response_item", type="function_call", **written, **names)

    def is_custom(self, call: Call) -> bool:
        return call.id.endswith("7")

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            kind = "custom_tool_call" if self.is_custom(each.call) else "function_call"
            output = {"call_id": each.call.id, "output": each.text}
            self.log("response_item", type=f"{kind}_output", **output)
            self.log("event_msg", type="exec_command_end", call_id=each.call.id)

    def interrupted(self, answer: Answer) -> None:
        super().interrupted(answer)
        self.said("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>")
        self.log("event_msg", type="turn_aborted", reason="interrupted")

    def compacted(self, summary: str) -> None:
        content = [{"type": "input_text", "text": summary}]
        kept = [{"type": "message", "role": "user", "content": content}]
        history = self.chosen.choice(({}, {"replacement_history": kept}))
        self.log("compacted", message=summary, **history)

    def back(self, place: Json) -> None:
        self.log("event_msg", type="thread_rolled_back", num_turns=1)

    def switched(self) -> None:
        super().switched()
        self.log("turn_context", cwd="/w", model=self.model)

    def noise(self) -> None:
        kind = self.chosen.randrange(3)
        if kind == 0:
            self.log("response_item", type="ghost_snapshot", ghost_commit={"id": "c"})
        elif kind == 1:
            self.log("event_msg", type="token_count", info=None)
        else:
            action = {"type": "search", "query": "q"}
            self.log("response_item", type="web_search_call", action=action)


class CopilotCli(Writer):
    models = (("", "gpt-5.5"), ("", "claude-opus-4.8"))

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.event("session.start", sessionId="s", selectedModel=self.model)

    def event(self, type: str, **data: Json) -> None:
        last = self.records[-1]["id"] if self.records else None
        self.add({"type": type, "data": data, "id": self.id(), "parentId": last})

    def ask(self, text: str, image: bool) -> None:
        self.event("user.message", content=text, transformedContent=f"now\n{text}")

    def answer(self, answer: Answer) -> None:
        calls = [
            {"toolCallId": each.id, "name": each.name, "arguments": each.arguments}
            for each in answer.calls
        ]
        self.event("assistant.message", content=answer.text, toolRequests=calls)

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            self.event("tool.execution_start", toolCallId=each.call.id)
            ends = {"toolCallId": each.call.id, "success": not each.failed}
            result = {"content": each.text}
            if each.failed:
                result = {"content": each.text, "detailedContent": each.text}
            self.event("tool.execution_complete", **ends, result=result)

    def compacted(self, summary: str) -> None:
        names = {"success": True, "summaryContent": summary}
        self.event("session.compaction_complete", **names)

    def aside(self, text: str, answer: Answer) -> None:
        self.event("assistant.message", content=answer.text, toolRequests=[])
        self.records[-1]["agentId"] = "a"

    def switched(self) -> None:
        super().switched()
        self.event("session.model_change", newModel=self.model)


class KimiCode(Writer):
    models = (("", "kimi-k3"),)

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.add({"type": "metadata", "protocol_version": "1.5"})
        self.add({"type": "config.update", "modelAlias": self.model})

    def ask(self, text: str, image: bool) -> None:
        url = {"url": f"data:image/png;base64,{IMAGE}"}
        picture = {"type": "image_url", "imageUrl": url}
        content = [{"type": "text", "text": text}, *([picture] * image)]
        message = {"role": "user", "content": content, "toolCalls": []}
        message["origin"] = {"kind": "user"}
        self.add({"type": "context.append_message", "message": message})

    def event(self, kind: str, **event: Json) -> None:
        event = {"type": kind, **event}
        self.add({"type": "context.append_loop_event", "event": event})

    def answer(self, answer: Answer) -> None:
        step = self.id()
        self.event("step.begin", uuid=step)
        part = {"type": "think", "think": answer.thinking or "Hm."}
        self.event("content.part", stepUuid=step, part=part)
        if answer.text:
            part = {"type": "text", "text": answer.text}
            self.event("content.part", stepUuid=step, part=part)
        for each in answer.calls:
            names = {"toolCallId": each.id, "name": each.name, "args": each.arguments}
            self.event("tool.call", stepUuid=step, **names)
        self.step = step
        if not answer.calls:
            self.event("step.end", uuid=step)

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            result = {"output": each.text, "isError": each.failed}
            self.event("tool.result", toolCallId=each.call.id, result=result)
        self.event("step.end", uuid=self.step)

    def compacted(self, summary: str) -> None:
        names = {"summary": summary, "contextSummary": summary, "compactedCount": 1}
        self.add(
            {"type": "context.apply_compaction", **names, "keptUserMessageCount": 1}
        )

    def back(self, place: Json) -> None:
        self.add({"type": "context.undo", "count": 1})

    def noise(self) -> None:
        self.add({"type": "usage.record", "usage": {}})


class GeminiCli(Writer):
    models = GOOGLES

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.add({"sessionId": "s", "projectHash": "h", "startTime": "2026"})

    def ask(self, text: str, image: bool) -> None:
        picture = {"inlineData": {"mimeType": "image/png", "data": IMAGE}}
        self.asked = self.id()
        parts = [{"text": text}, *([picture] * image)]
        self.add({"id": self.asked, "type": "user", "content": parts})

    def answer(self, answer: Answer) -> None:
        thoughts = [{"subject": "", "description": answer.thinking}]
        message = {"id": self.id(), "type": "gemini", "content": answer.text}
        self.message = {**message, "model": self.model, "thoughts": thoughts}
        self.add(self.message)
        if answer.calls:
            self.add({**self.message, "toolCalls": [*map(self.call, answer.calls)]})

    def call(self, call: Call) -> Json:
        names = {"id": call.id, "name": call.name, "args": call.arguments}
        return {**names, "status": "executing"}

    def results(self, results: Sequence[Result]) -> None:
        calls, parts = [], []
        for each in results:
            response = {"id": each.call.id, "name": each.call.name}
            member = "error" if each.failed else "output"
            part = {"functionResponse": {**response, "response": {member: each.text}}}
            parts.append(part)
            calls.append(
                {**self.call(each.call), "status": "success", "result": [part]}
            )
        self.add({**self.message, "toolCalls": calls})
        self.add({"id": self.id(), "type": "user", "content": parts})

    def place(self) -> Json:
        return None

    def back(self, place: Json) -> None:
        self.add({"$rewindTo": self.asked})

    def noise(self) -> None:
        kind = self.chosen.choice(("info", "error"))
        self.add({"id": self.id(), "type": kind, "content": "Told."})


class KimiCli(Writer):
    def noise(self) -> None:
        self.add({"role": "_checkpoint", "id": self.count})
        self.add({"role": "_usage", "token_count": 9})

    def ask(self, text: str, image: bool) -> None:
        self.add({"role": "user", "content": text})

    def answer(self, answer: Answer) -> None:
        content: Json = [{"type": "think", "think": answer.thinking, "encrypted": None}]
        content += [{"type": "text", "text": answer.text}] if answer.text else []
        calls = [
            {
                "type": "function",
                "id": each.id,
                "function": {"name": each.name, "arguments": each.written},
            }
            for each in answer.calls
        ]
        message = {"role": "assistant", "content": content}
        self.add({**message, "tool_calls": calls} if calls else message)

    def results(self, results: Sequence[Result]) -> None:
        for each in results:
            message = {"role": "tool", "tool_call_id": each.call.id}
            self.add({**message, "content": [{"type": "text", "text": each.text}]})

    def compacted(self, summary: str) -> None:
        self.records.clear()
        self.noise()
        self.add({"role": "user", "content": [{"type": "text", "text": summary}]})
