"""Calls written in Python: where they end or fail, what is a call, and its values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from cutting import cuttings
from hypothesis import given
from hypothesis import strategies as st
from line_count import in_slices, lines_of

from stream_sidecar.values.pushdown import MAX_NESTING
from stream_sidecar.values.pythonic import CallScanner, Declaration, parse_calls


def end_of(pieces: list[str], opener: str = "") -> tuple[int, str]:
    scanner = CallScanner(opener)
    end = 0
    for piece in pieces:
        end += scanner.scan(piece, 0)
    return end, scanner.state


def scan(text: str, opener: str = "") -> tuple[int, str]:
    """Where the calls end and how, the same for every way to cut ``text``."""
    found = {end_of(pieces, opener) for pieces in cuttings(text)}
    assert len(found) == 1, text
    return found.pop()


def opener_of(text: str) -> str:
    return "[" if text.startswith("[") else ""


WHOLE = [
    "f()",
    "name_2.größe.नाम (  )",
    "f(a=1, b='x', c=[1, (2,), {'k': -1.5e-3}], d={},)",
    'f(\n  a = .5 ,\r\n\tb=+1.,  # not ) yet "\n  c=None # nor here\r)',
    'f(a="it\'s )\\" \\\\", b=\'say "x" (\\\'\')',
    "f(a='', b=\"\", c='''''', d=\"\"\"\"\"\")",
    "f(a='''x''y'\\''' ) \n''', b=\"\"\"x\"\"y\"\\\"\"\" ) \n\"\"\")",
    r"f(r'\d', b'x', u'x', f'{x}', rb'x', Rb'x', bR'\'', FR'x')",
    "f('a' \"b\" r'c' Fr'''d''' # and\n 'e', r, rb, rbx, b1, rbf)",
    "f('one \\\ntwo \\\r\nthree \\\rfour', '''\\\r\n''')",
    "f(a=1, \\\n b=\\\r\n 2)",
    "print(ns.f(a=g(1, h()), b=[true, null]))",
    "f(a=1_000 + 0x1F - 2j)",
    "f(1 # one\n, 2, {'a' # key\n : 'b' 'c'}, [[], ()])",
    "[f()]",
    "[ # two\n f(a=1) , \\\n g.h(b=[{}]) ,\n]",
]


@pytest.mark.parametrize("text", WHOLE)
def test_whole(text: str) -> None:
    assert scan(text + ")]", opener_of(text)) == (len(text), "whole")
    ast.parse(text)


FAILED = {
    "": """
        1| (| [| f)| f;| f.1| f..| f.(| f g| f:| f [| f(,| f(]| f(a]| f(a b| f(a;| f(a!|
        f(a==| f(a=,| f(a=)| f(a:| f(a[| f(a*| f(a"| f(*| f(/| f($| f(a=.x| f(a=..|
        f(a=-)| f("a"c| f("a" by| f("a" rbu| f("a".| f("a"=| f(f().| f(f()(| f([1].|
        f([1)| f([a=| f({a=| f({1:}| f({1:,| f({1)| f(\\x| f('a' \\x|
    """,
    "[": """
        f| ]| [1| [f]| [f,| [f()g| [f(),,| [[| []| [,| [f()}| [f(g())(| [f(]|
    """,
}
"""By opener: calls up to the character with which they cannot go on, and a bar."""


@pytest.mark.parametrize(
    ("text", "opener"),
    [
        (text.strip(), opener)
        for opener, texts in FAILED.items()
        for text in texts.split("|")
        if text.strip()
    ],
)
def test_failing(text: str, opener: str) -> None:
    assert scan(text + "'\n)]", opener) == (len(text), "failed")
    assert scan(text[:-1], opener) == (len(text) - 1, "open")


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n"])
def test_a_line_break_in_a_string_fails(quote: str, line_break: str) -> None:
    start = f"f(a={quote}b\\{line_break}c"
    assert scan(f"{start}{line_break}{quote})") == (len(start) + 1, "failed")


@pytest.mark.parametrize("bracket", ["f(", "[", "{", "("])
def test_the_bracket_that_is_too_deep_fails(bracket: str) -> None:
    text = "f(" + bracket * MAX_NESTING
    end = 2 + len(bracket) * (MAX_NESTING - 1)
    assert end_of([text[:end]]) == (end, "open")
    assert end_of([text]) == (end + len(bracket), "failed")


CALLS: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    "f()": [("f", {}, "f()")],
    " \n f(a = 1)\n": [("f", {"a": 1}, "f(a = 1)")],
    "ns.f(a='x')": [("ns.f", {"a": "x"}, "ns.f(a='x')")],
    "default_api.ns.f()": [("ns.f", {}, "default_api.ns.f()")],
    "print(default_api.f(a=1))": [("f", {"a": 1}, "default_api.f(a=1)")],
    "print(f(), print(g()))": [("f", {}, "f()"), ("g", {}, "g()")],
    "[f(a=1), ns.g()]": [("f", {"a": 1}, "f(a=1)"), ("ns.g", {}, "ns.g()")],
    "f(), print(g()),": [("f", {}, "f()"), ("g", {}, "g()")],
    "# reads it\nf(a='é') ; g(b='😀')# both\n\n\n[h(c='ß')]": [
        ("f", {"a": "é"}, "f(a='é')"),
        ("g", {"b": "😀"}, "g(b='😀')"),
        ("h", {"c": "ß"}, "h(c='ß')"),
    ],
    "# é\rf(a=\n'é',b=2)\r\ng()\f\n": [
        ("f", {"a": "é", "b": 2}, "f(a=\n'é',b=2)"),
        ("g", {}, "g()"),
    ],
    "\n  # in\n  f()\n  g()\nh()": [
        ("f", {}, "f()"),
        ("g", {}, "g()"),
        ("h", {}, "h()"),
    ],
    "x = f(a=1)\nprint(x)": [("f", {"a": 1}, "f(a=1)")],
    "x = f()\ny = g()\nh()\nprint(y)\nprint(x)\nx = f(a=2)\nprint(x)": [
        ("f", {}, "f()"),
        ("g", {}, "g()"),
        ("h", {}, "h()"),
        ("f", {"a": 2}, "f(a=2)"),
    ],
    "f(from='a=b', is=1, as = {'class': 2}, x='# in=')": [
        (
            "f",
            {"from": "a=b", "is": 1, "as": {"class": 2}, "x": "# in="},
            "f(from='a=b', is=1, as = {'class': 2}, x='# in=')",
        ),
    ],
    "two(1, 'x', c=3)": [("two", {"a": 1, "b": "x", "c": 3}, "two(1, 'x', c=3)")],
    "print(two(1))": [("two", {"a": 1}, "two(1)")],
    "print('x')": [("print", {"text": "x"}, "print('x')")],
}


def names_of(tool: str) -> list[str]:
    return {"two": ["a", "b"], "print": ["text"]}.get(tool, [])


@pytest.mark.parametrize("text", CALLS)
def test_calls(text: str) -> None:
    found = parse_calls(text, names_of)
    assert CALLS[text] == [
        (name, arguments, text[start:end]) for name, arguments, (start, end) in found
    ]
    for _, _, (start, end) in found:
        assert scan(text[start:end] + "x") == (end - start, "whole")


VALUES: dict[str, Any] = {
    "None, True, False, null, true, false": [None, True, False, None, True, False],
    "1, -2, +3, 0x1F, 1_000, - 4": [1, -2, 3, 31, 1000, -4],
    "1.5, -.5, 5., 1e3, -1e-3": [1.5, -0.5, 5.0, 1000.0, -0.001],
    "(), (1,), [(2, 3)], ([],)": [[], [1], [[2, 3]], [[]]],
    "{}, {'a': {'b': [None]}, 1: 2, 'a': 3}": [{}, {"a": 3, "1": 2}],
    r"'\n\x41\u00e9\'', r'\d', u'x', 'a' 'b'": ["\nAé'", r"\d", "x", "ab"],
    r"'\s \d', 'C:\proj'": [r"\s \d", r"C:\proj"],
    "'''a\nb''', 'a\\\nb'": ["a\nb", "ab"],
    "{1, 'a'}": [[1, "a"]],
    "'a\n\tb', \"a\r\nb\", {'c\n': '''d'''}": ["a\n\tb", "a\r\nb", {"c\n": "d"}],
    "007, [00, 0], '01'": ["007", ["00", 0], "01"],
    "123456789012345678901234567890": [123456789012345678901234567890],
}


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    [(_, arguments, _)] = parse_calls(f"f(a=[{text}])")
    assert arguments == {"a": VALUES[text]}
    assert list(map(type, arguments["a"])) == list(map(type, VALUES[text]))


LONG_NUMBERS = ["9" * 5_000, "0x" + "f" * 5_000, "-0x" + "f" * 5_000]
DEEP = [
    *("(" * 100_000, "f(a=" + "[" * 100_000, "f(a=" + "-" * 100_000 + "1)"),
    *("f" + ".a" * 100_000 + "()", "f(a=" + "1+" * 100_000 + "1)", "f()" * 10_000),
    *("f(a=" + "[" * 198 + "x" + "]" * 198 + ")", "f(" * 100 + "1 2" + ")" * 100),
]
NO_VALUES = [
    *("x", "f()", "b'x'", "f'x'", "1j", "1+2j", "...", "set()", "1+1", ""),
    *("-'x'", "-True", "-true", "--1", "~1", "not 1", "x.y", "x[0]", "'a'[0]", "1 < 2"),
    *("[x for x in y]", "{'a': b}", "{**{}}", "[*[]]", "{b'a': 1}", "{True: 1}"),
    *("{None: 1}", "{1.5: 1}", "{(): 1}", "1 if 1 else 2", "lambda: 1", "'a' % 1"),
    *(
        "'a\n",
        "'\ue00a\n'",
        "1__0",
        "0x",
        "-01",
        "'\\x1'",
        "'\\N{no such name}'",
        "\0",
        "\ud83d",
    ),
    *LONG_NUMBERS,
    f"{{{LONG_NUMBERS[1]}: 1}}",
]
NO_CALLS = [
    *(
        "",
        "  \n",
        "# f()",
        "f",
        "f(",
        "f)",
        "f(a=1",
        "1",
        "'f()'",
        "()",
        "[]",
        "f()\n()",
    ),
    *("[[f()]]", "f();1", "f()\ng", "f(), 1", "[f(), *g()]", "[f(), g]", "f()()"),
    *(
        "f()[0]",
        "f().x",
        "'x'.join()",
        "x = 1",
        "x = f()",
        "print(x)",
        "f()\\",
        "f() g()",
    ),
    *(
        "x = f()\ny = f()\nprint(x)",
        "x = f()\nx = g()\nprint(x)",
        "x: int = f()\nprint(x)",
    ),
    *("x = y = f()\nprint(x)", "x, y = f()\nprint(x)", "x = f()\nprint(x, x)"),
    *(
        "x = f()\ng(a=x)\nprint(x)",
        "x = f()\nprint(x)\nprint(x)",
        "x.y = f()\nprint(x)",
    ),
    *("x = f()\nprint(x, end='')", "print(x)\nx = f()", "x += f()\nprint(x)"),
    *(
        "import os",
        "for x in y: f()",
        "if f(): g()",
        "with f(): g()",
        "del x",
        "return",
    ),
    *("def f(): return 1", "def f(): pass\nf()", "class A: pass", "lambda: f()"),
    *("await f()", "not f()", "f() and g()", "(x := f())", " f()\nelse:\n g()"),
    *(
        "f(1)",
        "two(1, 2, 3)",
        "two(1, a=2)",
        "f(a=1, a=2)",
        "two(*[1])",
        "f(**{'a': 1})",
    ),
    *(
        "print('x', 'y')",
        "print(f(), 1)",
        "print(f(), end='')",
        "print([f()])",
        "f(a=)",
    ),
    *("f\ud83d()", "\ufefff()", "f(\u200b)", "\tf()\n        g()", "f(a='\\", "f(\\"),
    *(f"f(a={value})" for value in NO_VALUES),
    *DEEP,
]


@pytest.mark.parametrize("text", NO_CALLS, ids=lambda text: ascii(text[:40]))
def test_all_else_is_no_call(text: str) -> None:
    with pytest.raises(ValueError, match="no calls in Python") as caught:
        parse_calls(text, names_of)
    assert not isinstance(caught.value, Declaration)


def test_positional_arguments_need_names() -> None:
    with pytest.raises(ValueError, match="positional"):
        parse_calls("two(1)")


DECLARATIONS = [
    "def f(): pass",
    'def f(path: str, line: int = None) -> dict:\n    """Reads a file."""',
    "async def f(*a, **b): ...",
    ' def f(): """Says what it does.""" \n',
    '@tool\ndef f():\n    """Doc."""\n    pass\n\ndef g(): ...\n',
]


@pytest.mark.parametrize("text", DECLARATIONS)
def test_declarations(text: str) -> None:
    with pytest.raises(Declaration):
        parse_calls(text)


STRINGS = st.text(max_size=12)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | STRINGS,
    lambda inner: st.lists(inner) | st.dictionaries(STRINGS, inner),
    max_leaves=6,
).filter(lambda value: "inf" not in repr(value))
NAMES = st.from_regex(r"[a-z_]{1,4}_(\.[a-zé]{1,3}_)?", fullmatch=True)


@given(
    st.lists(st.tuples(NAMES, st.lists(LITERALS, max_size=2)), min_size=1, max_size=4)
)
def test_what_python_writes_is_read(calls: list[tuple[str, list[Any]]]) -> None:
    texts = [
        f"{name}({', '.join(f'a{at}={value!r}' for at, value in enumerate(values))})"
        for name, values in calls
    ]
    expected = [
        (name, {f"a{at}": value for at, value in enumerate(values)})
        for name, values in calls
    ]
    in_list = f"[{', '.join(texts)}]"
    for text in ("; ".join(texts), "\n".join(texts), in_list):
        found = parse_calls(text)
        assert [(name, arguments) for name, arguments, _ in found] == expected
        assert [text[start:end] for _, _, (start, end) in found] == texts
    assert end_of([in_list + "x"], "[") == (len(in_list), "whole")
    assert end_of([*texts[0], "x"]) == (len(texts[0]), "whole")


FRAGMENTS = (
    *("f", "(", ")", "[", "]", "{", "}", "a=", '"k":', "1", "-", ".5", "1e-5", "0x1F"),
    *(
        ",",
        " ",
        "\n",
        "\r",
        "\\\n",
        "#c\n",
        '"s"',
        "'t'",
        'r"\\d"',
        "u",
        "rb",
        '"',
        "'",
    ),
    *("\\", "'''", "True", "null", "(1,)", '{"a":1}', "x.y", "print(", "é", "=", "*"),
)


@given(
    st.sampled_from(["f(", "g.h(", "f(a=", "print(f(", "[f("]),
    st.lists(st.sampled_from(FRAGMENTS), max_size=9).map("".join),
    st.sampled_from(["", ")", "])", "))", ")]"]),
)
def test_a_call_that_is_read_is_whole(start: str, inner: str, end: str) -> None:
    """And any other text raises ValueError and nothing else."""
    text = start + inner + end
    found = end_of([text], opener_of(text))
    assert end_of(list(text), opener_of(text)) == found
    try:
        calls = parse_calls(text, names_of)
    except ValueError:
        return
    for name, arguments, (begin, stop) in calls:
        call = text[begin:stop]
        assert end_of([call]) == (len(call), "whole")
        assert parse_calls(call, names_of) == [(name, arguments, (0, len(call)))]


HOSTILE: dict[str, Callable[[int], str]] = {
    "a string": lambda n: 'f(a="' + "b" * n + '")',
    "a long string": lambda n: 'f(a="""' + '""\n' * (n // 3) + '""")',
    "escapes": lambda n: 'f(a="' + "\\n" * (n // 2) + '")',
    "arguments": lambda n: "f(" + "".join(f"a{i}=1," for i in range(n // 7)) + ")",
    "strings": lambda n: "f(a=" + "'b' " * (n // 4) + ")",
    "numbers": lambda n: "f(a=[" + "1.5," * (n // 4) + "])",
    "lists": lambda n: "f(a=[" + "[]," * (n // 3) + "])",
    "calls": lambda n: "[" + "f()," * (n // 4) + "]",
    "calls behind a character": lambda n: "[f(a='é')," + "f()," * (n // 4) + "]",
    "blanks": lambda n: "f(" + " " * n + ")",
    "comments": lambda n: "f(" + "#\n" * (n // 2) + ")",
    "a long name": lambda n: "f" * n + "()",
    "signs": lambda n: "f(a=" + "-" * n + "1)",
    "openers": lambda n: "f(" * (n // 2),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_linear_work(name: str) -> None:
    def work(text: str) -> None:
        opener = opener_of(text)
        assert end_of(in_slices(text), opener) == end_of([text], opener)
        with suppress(ValueError):
            parse_calls(text)

    few, many = (lines_of(lambda n=n: work(HOSTILE[name](n))) for n in (400, 4_000))
    assert many < 11 * few + 2_000
