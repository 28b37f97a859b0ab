"""The kind of an error: tables of words and patterns.

The words are codes, types and reasons of providers; the patterns are for messages.
Source: wires/README.md, "Kinds of errors". Patterns run only over the first `WINDOW`
code points of a message, in linear time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

WINDOW = 4000
"""The most code points of a message that are read."""

_SPECIFIC = {
    "auth": "authentication authenticationfailed invalidauthentication unauthenticated"
    " unauthorized notauthenticated invalidapikey apikeyinvalid incorrectapikey"
    " expiredapikey apikeyexpired invalidtoken expiredtoken unrecognizedclient"
    " invalidsignature missingauthenticationtoken authfailure",
    "permission": "permission permissiondenied accessdenied forbidden notauthorized"
    " modelaccess modelaccessdenied unsupportedcountryregionterritory",
    "billing": "insufficientquota billing paymentrequired usagenotincluded"
    " insufficientg1creditsbalance insufficientbalance insufficientcredits"
    " billinghardlimitreached billingnotactive creditbalancetoolow arrearage"
    " insufficientuserquota",
    "context-length": "contextlengthexceeded contextlength tokenlimitexceeded"
    " modelcontextwindowexceeded contextwindowexceeded requesttoolarge"
    " exceedcontextsize toomanytokens toomanyprompttokens inputtoolong prompttoolong"
    " payloadtoolarge characterstoolong tokenstoolong",
    "content-filter": "contentfilter contentfiltered contentpolicyviolation"
    " responsibleaipolicyviolation refusal biopolicy misalignmentpolicyviolation"
    " guardrailintervened moderation prohibitedcontent datainspectionfailed",
    "rate-limit": "ratelimit ratelimitexceeded ratelimitreached"
    " resourceexhausted throttling toomanyrequests quotaexceeded quotaexhausted"
    " requestlimitexceeded",
    "overloaded": "overloaded provideroverloaded engineoverloaded unavailable"
    " serviceunavailable modelcapacityexhausted insufficientsystemresource"
    " modelnotready slowdown",
    "not-found": "notfound modelnotfound deploymentnotfound resourcenotfound"
    " invalidmodel unknownmodel",
    "timeout": "timeout deadlineexceeded modeltimeout vectorstoretimeout gatewaytimeout"
    " requesttimeout apitimeout timelimit reasontimelimit",
    "network": "econnreset etimedout econnrefused epipe enotfound eaiagain"
    " apiconnection connection network websocketconnectionlimitreached",
    "cancelled": "cancelled canceled clientdisconnect usercancel requestcancelled"
    " responsecancelled aborted",
}
_GENERIC = {
    "invalid-request": "invalidrequest invalidargument failedprecondition validation"
    " badrequest unprocessableentity outofrange invalidvalue invalidparameter"
    " notsupported unsupported stringabovemaxlength template tool"
    " missingtemplatevariable",
    "server": "api server internal internalserver internalfailure modelstream"
    " model providerunavailable badgateway generation"
    " incompletegeneration incompletegenerationstream streamserialization healthcheck"
    " malformedoutput upstream",
}
SPECIFIC = {word: kind for kind, words in _SPECIFIC.items() for word in words.split()}
GENERIC = {word: kind for kind, words in _GENERIC.items() for word in words.split()}
"""Normalised word -> kind; the message counts more than these words."""

STATUS = {
    400: "invalid-request",
    401: "auth",
    402: "billing",
    403: "permission",
    404: "not-found",
    408: "timeout",
    413: "context-length",
    424: "server",
    429: "rate-limit",
    499: "cancelled",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}
_REFINED = {
    **dict.fromkeys((404, 408, 499, 504, 524, 529), ""),
    400: "context-length content-filter auth billing not-found permission",
    403: "context-length content-filter auth billing",
    413: "context-length",
    422: "context-length content-filter not-found",
    429: "billing",
}
"""Status -> the kinds that the message may choose in its place; with a status that is
missing here, every kind. Example: 400 alone is ``invalid-request``, 400 with ``prompt
is too long`` is ``context-length``."""

_DECIDED = (401, 402)
"""Statuses that decide alone: DeepSeek's 402 is an ``invalid_request_error``."""

RETRYABLE = frozenset(("rate-limit", "overloaded", "server", "timeout", "network"))

_CONTEXT = (
    r"(?:messages?|prompt|input) (?:is|are) too long"
    r"|exceeds? the context window|context window exceeds? limit|exceed context limit"
    r"|(?:input|prompt) token count.{0,80}exceeds the max|maximum prompt length is"
    r"|reduce the length of the (?:messages|input|prompt)|maximum context length"
    r"|maximum number of tokens allowed|exceeds? the limit of [0-9]{3}"
    r"|exceeds? the available context size|greater than the context length"
    r"|exceeded model token limit|context[ _]length[ _](?:exceeded|(?:is|of) only)"
    r"|context size has been exceeded"
    r"|input length.{0,80}exceeds?.{0,80}context length|request entity too large"
    r"|longer than the model's context length|`inputs` tokens \+ `max_new_tokens` must"
    r"|current length is.{0,80}while limit is"
    r"|too many tokens[,:] (?:expected|size|total)"
    r"|request payload size exceeds|prompt exceeds? max length"
    r"|tokens in (?:the )?request more than max|range of input length should be"
    r"|prompt tokens too long|max input characters"
)
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("context-length", _CONTEXT),
    (
        "content-filter",
        r"content (?:management )?policy|content[ _-]filter|responsible ai"
        r"|safety (?:system|policy|policies|reasons)|(?:was|were|been) flagged"
        r"|inappropriate content|usage polic(?:y|ies)|violat.{0,40} policy"
        r"|due to safety|content exists risk|violates usage guidelines"
        r"|safety_check_type",
    ),
    (
        "auth",
        r"(?:invalid|incorrect|missing|expired|wrong) (?:x-|an? )?(?:api|access|auth)"
        r"|api key (?:not valid|is invalid|is missing|expired|has expired)"
        r"|no api key|api[ _-]key.{0,40}(?:not valid|is invalid|required)"
        r"|authenticat(?:e|ion)|unauthori[sz]ed|security token|signed? in again"
        r"|(?:validate|no auth|no valid|invalid|missing) credentials",
    ),
    (
        "billing",
        r"insufficient (?:account )?(?:balance|credit|fund|quota)|credit balance"
        r"|exceeded your current quota|payment required|spend(?:ing)? limit"
        r"|out of credits|more credits|usage limits?|billing|extra usage is required"
        r"|n[o']t have any credits|used all available credits"
        r"|(?:balance|credits?|funds?|quota) (?:is |are )?(?:insufficient|not enough)"
        r"|余额不足|额度不足|欠费",
    ),
    (
        "rate-limit",
        r"rate[ _-]?limit|too many requests|quota|resource (?:has been )?exhausted"
        r"|(?:tokens|requests) per (?:min|day|hour|sec)|throttl|capacity exceeded"
        r"|too quickly",
    ),
    (
        "overloaded",
        r"overloaded|over[ _]capacity|no capacity|high demand|at capacity"
        r"|no healthy upstream|not ready"
        r"|(?:service|server|model|temporarily) (?:is )?(?:currently )?unavailable",
    ),
    ("timeout", r"timed?[ -]?out|deadline (?:exceeded|expired)"),
    (
        "not-found",
        r"(?:model|deployment|engine).{0,80}(?:not found|not exist|removed|deprecated)"
        r"|(?:unknown|invalid|no such) model|model (?:names? are|identifier is invalid)"
        r"|is not found for api version|no (?:endpoints|providers) found|^not found",
    ),
    (
        "network",
        r"econnreset|etimedout|econnrefused|epipe|fetch failed|socket hang up"
        r"|^terminated|connection (?:error|reset|refused|closed|aborted)|network error",
    ),
    (
        "cancelled",
        r"client disconnect|(?:was|been) (?:cancell?ed|aborted)|user aborted",
    ),
    (
        "permission",
        r"permission denied|access (?:is )?denied|forbidden|not authorized"
        r"|n[o']t have (?:access|permission)|region.{0,40}not supported"
        r"|unsupported region|not available in your",
    ),
)
_WEAK: tuple[tuple[str, str], ...] = (
    (
        "network",
        r"premature close|(?:stream|connection) (?:terminated|ended)|peer closed"
        r"|upstream (?:connect|prematurely)|connection termination|unexpected eof"
        r"|(?:stream|connection) (?:disconnected|reset|lost|broken)",
    ),
    (
        "server",
        r"internal (?:server )?error|bad gateway|(?:server|unexpected) error"
        r"|server had an error|out of memory|cuda error|error occurred"
        r"|something went wrong|process has terminated|signal: killed|crashed",
    ),
    (
        "invalid-request",
        r"required|malformed|invalid|not supported|unsupported|must be|not permitted"
        r"|validation|thought.?signature|schema|unknown (?:parameter|field)",
    ),
)
"""Patterns that count only if everything else leaves the kind open."""

_FIRST: tuple[tuple[str, str], ...] = (
    ("rate-limit", r"(?:tokens?|requests?) per (?:min|sec|hour|day)"),
    ("billing", r"extra usage is required"),
)
"""Messages that outrank codes and types: ``too_many_tokens`` per minute does not mean a
full context, and Anthropic sends a ``rate_limit_error`` if the plan does not
suffice."""

_FIRST_RULES = tuple((kind, patterns.compile(pattern)) for kind, pattern in _FIRST)
_STRONG_RULES = tuple((kind, patterns.compile(pattern)) for kind, pattern in _PATTERNS)
_WEAK_RULES = tuple((kind, patterns.compile(pattern)) for kind, pattern in _WEAK)
_BARE_429 = patterns.compile(r"\b429\b")
_WORD_ENDS = patterns.compile(r"(?<!error)(?<!exception)(?:error|exception)++\Z")
_CLASS_NAME = patterns.compile(r"\b[A-Z][A-Za-z]{2,40}(?:Error|Exception)\b")
_CLASS_WINDOW = 300  # a message may begin with names of exceptions, as LiteLLM's do
_NOT_WORD = patterns.compile(r"[^a-z0-9]+")
_BEFORE_NAME = patterns.compile("[#/]")


def normal_word(word: str) -> str:
    """Return ``word`` in the spelling of the tables: ``RateLimitReached`` ->
    ``ratelimitreached``, ``timeout_error`` -> ``timeout``.

    Of a qualified name (AWS's ``__type``) only the part after ``#`` or ``/`` counts.
    """
    short = _BEFORE_NAME.split(word[:200])[-1].lower()
    return _WORD_ENDS.sub("", _NOT_WORD.sub("", short))


def kind_of_error(
    words: Iterable[str], text: str, status: int | None, coded: str = ""
) -> str:
    """Return the kind. The first of these decides that is there: a status with one
    meaning, a limit per minute or day in the message, a specific code (a number before
    a word) or type, the message (if the status allows its kind), the name of an
    exception in the message, a generic code or type, the status, a vague message.

    ``words`` are the provider's codes, types and reasons, innermost first. ``text`` is
    the message. ``coded`` is the kind of a numeric code (`codes`), empty if there is
    none.
    """
    if status in _DECIDED:
        return STATUS[status]
    # Tencent's ``AuthFailure.SecretIdNotFound`` has the kind before the dot
    heads = [(word, word.partition(".")[0]) for word in words]
    normal = [normal_word(each) for pair in heads for each in pair]
    names = [normal_word(name) for name in _CLASS_NAME.findall(text[:_CLASS_WINDOW])]
    text = text[:WINDOW].lower()
    return (
        _search(_FIRST_RULES, text)
        or (coded if coded not in _GENERIC else "")
        or _by_words(normal)
        or _by_text(normal, text, status)
        or _in_table(SPECIFIC, names)
        or coded
        or _in_table(GENERIC, [*normal, *names])
        or _by_status(status)
        or _search(_WEAK_RULES, text)
        or "unknown"
    )


def _by_words(words: list[str]) -> str:
    if any(word.endswith("spendlimitreached") for word in words):
        return "billing"
    return _in_table(SPECIFIC, words)


def _in_table(table: dict[str, str], words: list[str]) -> str:
    return next((table[word] for word in words if word in table), "")


def _by_text(words: list[str], text: str, status: int | None) -> str:
    kind = _search(_STRONG_RULES, text)
    # As LiteLLM found: a field that is too long does not mean a full context, and a
    # number in a message, which may quote the prompt, counts only without a status.
    if kind == "context-length" and "stringabovemaxlength" in words:
        return ""
    if not kind and status is None and _BARE_429.search(text):
        return "rate-limit"
    return kind if kind in _REFINED.get(status or 0, kind).split() else ""


def _search(rules: Iterable[tuple[str, re.Pattern[str]]], text: str) -> str:
    return next((kind for kind, pattern in rules if pattern.search(text)), "")


def _by_status(status: int | None) -> str:
    if status is None or status < 400:
        return ""
    return STATUS.get(status, "invalid-request" if status < 500 else "server")
