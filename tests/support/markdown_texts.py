"""Legitimate Markdown by the number, with places for delimiters in it.

`document` draws blocks in blocks, as an answer has them: paragraphs, headings, fences
and indented code, in quotes and lists. `PLACE` stands wherever a delimiter may be put,
and what a place is in is known: code, a mention in quotes, or prose. Nothing here knows
the engine.
"""

from __future__ import annotations

from random import Random

from attrs import define, field

PLACE = "\ue000"
WORDS = (
    *("so", "the", "model", "writes", "a", "tag", "first,", "then", "why", "it"),
    *("does", "not", "end:", "5", "<", "6", "&", "more."),
)
INDENTED = ("", "", "", " ", "  ", "   ")
BULLETS, NUMBERS = ("-", "*", "+"), ("1.", "1)", "12.")
INFO = ("", "xml", "py title", " json")

DEPTH = 2
"""So deep are blocks in blocks."""

Lines = list[str]


@define
class Document:
    """``lines``, and in the order of their places what each is in; ``odd``: lengths of
    backtick runs that nothing closes, each of them once."""

    generator: Random
    lines: Lines = field(factory=list)
    odd: Lines = field(factory=lambda: ["`" * size for size in range(6, 30)])

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def kinds(self) -> Lines:
        """``code``, ``mention`` or ``prose``: a digit after each place says which."""
        names = {"0": "code", "1": "mention", "2": "prose"}
        return [names[each[0]] for each in self.text.split(PLACE)[1:]]

    def filled(self, *given: str) -> str:
        """The text with what is ``given`` at its places."""
        first, *others = self.text.split(PLACE)
        rest = (each + other[1:] for each, other in zip(given, others, strict=True))
        return first + "".join(rest)


CODE, MENTION, PROSE = (f"{PLACE}{digit}" for digit in "012")


def document(seed: int) -> Document:
    """The document of a number."""
    made = Document(Random(seed))
    made.lines = _blocks(made, DEPTH, made.generator.randint(2, 6))
    return made


def _blocks(made: Document, depth: int, count: int) -> Lines:
    """Blocks one after the other; most have a blank line between them."""
    lines: Lines = []
    for _ in range(count):
        kinds = (_paragraph, _paragraph, _heading, _fence, _indented, _rule)
        kinds += (_quote, _list) * bool(depth)
        block = made.generator.choice(kinds)
        new = block(made, depth - 1)
        apart = block in (_paragraph, _indented, _quote, _list, _rule)
        if lines and (apart or made.generator.random() < 0.7):
            lines += [""] * made.generator.randint(1, 2)
        lines += new
        if block is _list:
            lines += ["", "So:"]  # what is indented would belong to the list
        if block in (_quote, _list, _fence):
            lines.append("")
    return lines


def _paragraph(made: Document, _: int) -> Lines:
    generator = made.generator
    lines = [_sentence(made) for _ in range(generator.randint(1, 3))]
    deeper = (*INDENTED, " " * 4, " " * 9)
    return [
        generator.choice(deeper if number else INDENTED) + line
        for number, line in enumerate(lines)
    ]


def _sentence(made: Document) -> str:
    """Words, some of them with a place; its first word is one without."""
    generator = made.generator
    parts = [generator.choice(WORDS) for _ in range(generator.randint(2, 7))]
    for _ in range(generator.randint(0, 2)):
        parts.insert(generator.randint(1, len(parts)), _inline(made))
        parts.insert(generator.randint(1, len(parts)), generator.choice(WORDS))
    return " ".join((*parts, "end."))


def _inline(made: Document) -> str:
    generator = made.generator
    quote = generator.choice("\"'")
    run = "`" * generator.randint(1, 3)
    other = "`" * (len(run) + generator.choice((-1, 1, 2)))
    odd = made.odd.pop() if made.odd else ""
    return generator.choice(
        (
            PROSE,
            PROSE,
            f"a{PROSE}b",
            f"{run}{CODE}{run}",
            f"{run}{CODE} {other} {CODE}x{run}",
            f"\\` {PROSE} \\\\`{CODE}`",
            f"**{run} a{CODE} {run}**",
            f"{quote}{MENTION}{quote}",
            f"({quote}{MENTION}{quote}, {quote}{MENTION}{quote})",
            f"“{MENTION}”",
            f"x={quote}{MENTION}{quote}",
            f"\\{MENTION}",
            f"{odd} {PROSE} {run}{CODE}{run}",
        )
    )


def _heading(made: Document, _: int) -> Lines:
    generator, text = made.generator, _sentence(made)
    if generator.random() < 0.7:
        return [f"{generator.choice(INDENTED)}{'#' * generator.randint(1, 6)} {text}"]
    return [text, generator.choice("=-") * generator.randint(2, 9)]


def _rule(made: Document, _: int) -> Lines:
    return [made.generator.choice(("---", "* * *", "___________", " - - -"))]


def _fence(made: Document, depth: int) -> Lines:
    generator = made.generator
    sign, size = generator.choice("`~"), generator.randint(3, 5)
    info = generator.choice((*INFO, f"{CODE} a"))
    opener, closer = sign * size, sign * (size + generator.choice((0, 0, 1)))
    indent, other = generator.choice(INDENTED), generator.choice(INDENTED)
    inner = generator.choice(("    ", _tab(depth))) + sign * size
    lines = generator.sample(
        (
            *(f"{CODE}", f"  {CODE} x", "", f"# {CODE}", f"- {CODE}", f"x = '{CODE}'"),
            *(sign * (size - 1), inner, f"{closer} {CODE}", f"> {CODE}"),
            *("`~".replace(sign, "") * 7, f"    {CODE}"),
        ),
        generator.randint(1, 6),
    )
    return [f"{indent}{opener}{info}", *lines, f"{other}{closer}"]


def _indented(made: Document, depth: int) -> Lines:
    generator = made.generator
    bodies = (f"{CODE}", f"a {CODE}", "", f"```{CODE}", f"- {CODE}", f"` {CODE}", "---")
    lines = [generator.choice(bodies) for _ in range(generator.randint(1, 4))]
    blanks = generator.choice(("    ", "       ", _tab(depth), f"  {_tab(depth)}"))
    return [blanks + line if line else "" for line in (f"{CODE} b", *lines, "c")]


def _tab(depth: int) -> str:
    """A tab; in other blocks, where it may be short, as many blanks."""
    return "\t" if depth == DEPTH - 1 else " " * 4


def _quote(made: Document, depth: int) -> Lines:
    mark = made.generator.choice(("> ", " > ", "   > "))
    lines = _blocks(made, depth, made.generator.randint(1, 3))
    return [(mark + line).rstrip() if line else ">" for line in lines]


def _list(made: Document, depth: int) -> Lines:
    generator = made.generator
    mark = generator.choice((*BULLETS, *NUMBERS))
    lines: Lines = []
    for _ in range(generator.randint(1, 3)):
        begin = f"{generator.choice(INDENTED[:4])}{mark}{' ' * generator.randint(1, 4)}"
        first = _sentence(made)
        rest = _blocks(made, depth, generator.randint(0, 2))
        indent = " " * len(begin)
        lines += [begin + first, *([""] if rest else ())]
        lines += [indent + line if line else "" for line in rest]
    return lines
