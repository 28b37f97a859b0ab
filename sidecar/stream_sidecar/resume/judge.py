"""What a provider refuses of a conversation, found by the engine that mends requests.

`request/prepare` removes what a provider refuses, and says where. Each such place is a
finding, with the rule that it breaks (`provider_errors.refusals`) and the edits of the
file that mend it, where the fault lies in the file. Never raises for any JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.provider_errors.refusals import row_of
from stream_sidecar.resume.faults import Request, faults_in
from stream_sidecar.resume.findings import ResumeFinding
from stream_sidecar.resume.image_limits import refused_images
from stream_sidecar.resume.mends import StoredRequest, edits_for
from stream_sidecar.wires import WIRES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stream_sidecar.resume.conversation import ResumedConversation, StoredPlace
    from stream_sidecar.resume.findings import FileEdit, Remedy

_SENTENCES = {
    "arguments": "The arguments of a call are no JSON object",
    "blank-text": "A block of text is blank",
    "call-without-result": "A call has no result",
    "content-form": "The content has a form that this provider does not take",
    "empty-calls": "The list of calls is empty",
    "empty-turn": "A turn has no content",
    "foreign-encrypted-content": "Sealed reasoning was not issued by this provider",
    "half-surrogate": "A text has half of a character",
    "id-characters": "The id of a call has characters or a length that are refused",
    "item-form": "An item has a form that this provider does not take",
    "item-not-stored": "A reasoning item is neither sealed nor stored by the provider",
    "lonely-reasoning": "Nothing follows a reasoning item",
    "name-characters": "The name of a tool has characters that are refused",
    "null-content": "The content is null",
    "reasoning-missing": "The reasoning of an item is missing",
    "reasoning-refused": "This provider does not take reasoning back",
    "repeated-id": "An earlier call has the same id",
    "result-without-call": "A result has no call",
    "results-apart": "Results do not stand together, first in the turn after the calls",
    "role-order": "The turn has a role that may not stand here",
    "signature-foreign": "The signature of a thought or a call is not this provider's",
    "signature-missing": "A thought has no signature",
    "system-turn": "A system's turn may not stand here",
    "two-results": "A call has two results",
    "unknown-field": "A turn has a member that this provider does not know",
}
"""Rule -> what is wrong."""


def refusals_of(
    conversation: ResumedConversation,
    heals: Mapping[str, str],
    without_item: Callable[[StoredPlace], tuple[FileEdit, ...]] | None = None,
) -> Iterator[ResumeFinding]:
    """The findings in ``conversation``. ``heals`` and ``without_item``: as in
    `AgentFormat`."""
    if conversation.wire not in WIRES or not conversation.items:
        return
    request = Request.of(conversation)
    sent = conversation.items
    stored = StoredRequest(request, sent, without_item)
    for fault in faults_in(request):
        source, sentence = sent[fault.number].stored(fault.path), _SENTENCES[fault.rule]
        edits = edits_for(stored, fault)
        yield _finding(conversation, heals, fault.rule, source, sentence, edits)
    for image in refused_images(conversation):
        yield _finding(
            conversation, heals, image.rule, image.source, image.message, image.edits
        )


def _finding(
    conversation: ResumedConversation,
    heals: Mapping[str, str],
    rule: str,
    source: StoredPlace,
    sentence: str,
    edits: tuple[FileEdit, ...],
) -> ResumeFinding:
    row = row_of(rule, conversation.wire, conversation.provider)
    remedy: Remedy = "none" if row is not None and row.mend == "none" else "request"
    healed = heals.get(rule)
    return ResumeFinding(
        kind="left-out" if healed else "refused",
        source=source,
        message=f"{sentence}: {healed}" if healed else sentence,
        rule=rule,
        says=row.text if row else "",
        number=row.number if row else 0,
        remedy="none" if healed else "file" if edits else remedy,
        edits=() if healed else edits,
    )
