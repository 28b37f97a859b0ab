"""The agents whose stored sessions are read as requests: a table.

The first row of `FORMATS` that fits the records of a session reads it. A session that
no row fits has no known order, so only its records alone are judged. Adding an agent:
session_files/README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import field, frozen
from stream_sidecar.resume import (
    claude_code,
    codex,
    continue_dev,
    copilot_cli,
    crush,
    gemini_cli,
    goose,
    kimi_cli,
    kimi_code,
    message_lists,
    opencode,
    pi,
    qwen_code,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.conversation import ResumedConversation, StoredPlace
    from stream_sidecar.resume.findings import FileEdit
    from stream_sidecar.resume.records import Members, StoredRecord


@frozen
class AgentFormat:
    """How the sessions of one agent become requests.

    - ``name``: of the agent in `session_files.agents`; ``title``: for people.
    - ``fits``: whether a record can only be of this agent. One record is enough.
    - ``conversations``: reads all records of a session, in their stored order: the
      conversations that the agent could go on with, the one that it resumes last.
    - ``heals``: what the agent itself does about a fault when it resumes: the name of
      a rule -> a sentence ("Codex sends "aborted" in its place"). Such a fault is
      ``left-out``, not ``refused``.
    - ``resumes``: the command that resumes the session ``{id}``; "" if there is none.
    - ``without_item``: the edits that take a sent item out of the file so that the
      agent still reads it. It gets the place of the item or of a value in it. None: the
      item goes from its list or, with its record, from the log.
    - ``reads``: the members of a record that ``conversations`` reads, as in `Outlines`.
    """

    name: str
    title: str
    fits: Callable[[Json], bool]
    conversations: Callable[[Sequence[StoredRecord]], Iterable[ResumedConversation]]
    heals: Mapping[str, str] = field(factory=dict)
    resumes: str = ""
    without_item: Callable[[StoredPlace], tuple[FileEdit, ...]] | None = None
    reads: Mapping[str, Members] = field(factory=dict)


FORMATS: tuple[AgentFormat, ...] = (
    AgentFormat(
        "claude-code",
        "Claude Code",
        claude_code.fits,
        claude_code.conversations,
        claude_code.CLAUDE_CODE_HEALS,
        "claude --resume {id}",
        reads=claude_code.CLAUDE_CODE_READS,
    ),
    AgentFormat(
        "codex",
        "Codex",
        codex.fits,
        codex.conversations,
        codex.CODEX_HEALS,
        "codex resume {id}",
        codex.without_item,
        codex.CODEX_READS,
    ),
    AgentFormat(
        "pi",
        "pi",
        pi.fits,
        pi.conversations,
        pi.PI_HEALS,
        "pi --session {id}",
        pi.without_item,
        pi.PI_READS,
    ),
    AgentFormat(
        "gemini-cli",
        "Gemini CLI",
        gemini_cli.fits,
        gemini_cli.conversations,
        resumes="gemini --resume {id}",
        reads=gemini_cli.GEMINI_READS,
    ),
    AgentFormat(
        "qwen-code",
        "qwen-code",
        qwen_code.fits,
        qwen_code.conversations,
        resumes="qwen --resume {id}",
        reads=qwen_code.QWEN_READS,
    ),
    AgentFormat(
        "copilot-cli",
        "Copilot CLI",
        copilot_cli.fits,
        copilot_cli.conversations,
        copilot_cli.COPILOT_HEALS,
        "copilot --resume {id}",
        reads=copilot_cli.COPILOT_READS,
    ),
    AgentFormat(
        "kimi-code",
        "Kimi Code",
        kimi_code.fits,
        kimi_code.conversations,
        kimi_code.KIMI_HEALS,
        "kimi --session {id}",
        reads=kimi_code.KIMI_READS,
    ),
    AgentFormat(
        "kimi-cli",
        "kimi-cli",
        kimi_cli.fits,
        kimi_cli.conversations,
        resumes="kimi --session {id}",
    ),
    AgentFormat(
        "opencode",
        "opencode",
        opencode.fits,
        opencode.conversations,
        without_item=opencode.without_item,
    ),
    AgentFormat("goose", "goose", goose.fits, goose.conversations, goose.GOOSE_HEALS),
    AgentFormat("crush", "Crush", crush.fits, crush.conversations, crush.CRUSH_HEALS),
    AgentFormat(
        "continue",
        "Continue",
        continue_dev.fits,
        continue_dev.conversations,
        resumes="cn --fork {id}",
    ),
    AgentFormat("roo", "Roo Code", message_lists.fits_roo, message_lists.conversations),
    AgentFormat(
        "cline",
        "Cline",
        message_lists.fits_cline,
        message_lists.conversations,
        message_lists.CLINE_HEALS,
        "cline --id {id}",
    ),
    AgentFormat(
        "messages",
        "a list of messages",
        message_lists.fits,
        message_lists.conversations,
    ),
)
"""In the order in which they are tried; lists of plain messages fit last."""


def format_of(records: Iterable[StoredRecord]) -> AgentFormat | None:
    """The agent that wrote the records; None if no row fits."""
    values = [record.value for record in records]
    return next((row for row in FORMATS if any(map(row.fits, values))), None)
