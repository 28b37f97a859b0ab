"""The clients alike: the tables of ``clients/README.md`` are what each has.

A row's value is written as the source of either client writes it; both have to say so,
and every name of the tables has to be in the client's code.
"""

from __future__ import annotations

import inspect
import re

import pytest
from goldens import assert_golden
from places import ROOT

from stream_sidecar.transports.sending import Sending

CLIENTS = ROOT / "clients"
PAGE = (CLIENTS / "README.md").read_text(encoding="utf-8")

UNITS = {"s": 1_000, "min": 60_000, "ms": 1, "MiB": 1 << 20, "": 1}

RUST_FIELDS = {
    "max_concurrent_requests": "requests",
    "max_concurrent_bytes": "bytes",
    "max_queued_requests": "waiting",
    "restart_pause": "pause",
}
"""A method of the builder -> the field that it sets, where that has another name."""


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table below these headings."""
    _, _, below = PAGE.partition(f"{heading}\n")
    lines = below.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def _code(folder: str) -> str:
    paths = sorted((CLIENTS / folder / "src").rglob("*.*"))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


DEFAULTS = _rows("| TypeScript | Rust | |")
OFFERS = _rows("| | TypeScript | Rust |")


def _value(text: str) -> int:
    number, _, unit = text.partition(" ")
    return int(number.replace(",", "")) * UNITS[unit]


def _in_typescript(name: str) -> int:
    """Of ``name: options.name ?? 30_000``, or ``name: 4`` of a group of options."""
    code = "".join(
        (CLIENTS / "typescript" / "src" / file).read_text(encoding="utf-8")
        for file in ("options.ts", "process/start.ts")
    )
    field = name.rpartition(".")[2]
    found = re.search(
        rf"\b{field}: (?:options\.{field} \?\? )?(\d[\d_]*( \* MiB)?)", code
    )
    found = found or re.search(rf"\b{field}: (MiB)\b", code)
    assert found is not None, name
    number, _, unit = found[1].partition(" * ")
    return int(number.replace("_", "")) * UNITS[unit]


def _in_rust(name: str, index: int) -> int:
    """Of ``name: Duration::from_secs(30)`` or ``name: 16 << 20`` of the builder."""
    code = (CLIENTS / "rust" / "src" / "builder.rs").read_text(encoding="utf-8")
    field = RUST_FIELDS.get(name, name)
    fields = [field, "within"]
    found = re.search(rf"\b{fields[index]}: ([^,}}]*?) ?[,}}]", code)
    assert found is not None, name
    if time := re.fullmatch(r"Duration::from_(secs|millis)\((\d+)\)", found[1]):
        return int(time[2]) * {"secs": 1_000, "millis": 1}[time[1]]
    number, _, shift = found[1].replace("_", "").partition(" << ")
    return int(number) << int(shift or 0)


@pytest.mark.parametrize("row", DEFAULTS, ids=lambda row: str(row[0]))
def test_a_default_is_the_same(row: list[str]) -> None:
    typescript, rust, value = (cell.strip("`") for cell in row)
    assert _in_typescript(typescript) == _value(value)
    assert _in_rust(rust, int(typescript == "restarts.windowMs")) == _value(value)


def test_there_are_as_many_as_are_reported() -> None:
    """A number of ``settled`` that is in no row is one that Rust need not have."""
    options = (CLIENTS / "typescript" / "src" / "options.ts").read_text(
        encoding="utf-8"
    )
    _, _, body = options.partition("export function settled")
    named = set(re.findall(r"\b(\w+): (?:options\.\w+ \?\? )?(?:\d|MiB)", body))
    documented = {row[0].strip("`").rpartition(".")[2] for row in DEFAULTS}
    read_ahead = {"maxChunks"}  # for a language without back-pressure
    assert named - documented <= read_ahead
    assert len(DEFAULTS) >= 12


@pytest.mark.parametrize(("column", "folder"), [(1, "typescript"), (2, "rust")])
def test_what_a_client_offers_is_in_it(column: int, folder: str) -> None:
    code = _code(folder) + (CLIENTS / folder / "README.md").read_text("utf-8")
    names = {
        name
        for row in OFFERS
        for quoted in re.findall(r"`([^`]+)`", row[column])
        for name in re.findall(r"\w+", re.sub(r"\(.*?\)", "", quoted))
    }
    assert len(names) > 20
    assert {name for name in names if not re.search(rf"\b{name}\b", code)} == set()


@pytest.mark.golden
def test_the_clients_have_the_endpoints_of_the_package() -> None:
    """The tools of the clients make their own tables from this copy."""
    rooms = ROOT / "sidecar" / "stream_sidecar"
    table = (rooms / "transports" / "endpoints.json").read_text(encoding="utf-8")
    assert_golden(CLIENTS / "schema" / "endpoints.json", table)


STARTING = _rows(
    "| `Sidecar` in TypeScript | `Builder` in Rust | meaning, and the default |"
)
ANSWERING = _rows(
    "| `CleaningTransport` in Python | `sidecarFetch` in TypeScript |"
    " `sidecarMiddleware` in TypeScript | `createGateway` in TypeScript |"
    " `SidecarLayer` in Rust | meaning, and the default |"
)


def _options(path: str, pattern: str) -> list[str]:
    """The names that the pattern finds in a file of the clients."""
    code = (CLIENTS / path).read_text(encoding="utf-8")
    return re.findall(pattern, code, re.MULTILINE)


MEMBER = r"^  (\w+)\?:"
SHARED = ("preparing", "listening", "losses")
METHOD = r"^    pub fn (\w+)\("


def _adapter(name: str) -> list[str]:
    """The options of an adapter in TypeScript: its own, and those that it shares."""
    files = [f"typescript/src/adapters/{file}.ts" for file in (name, *SHARED)]
    return [option for file in files for option in _options(file, MEMBER)]


def _gateway() -> list[str]:
    """The options of the gateway: its own, and those of ``sidecarFetch``."""
    file = "gateway/src/gateway.ts"
    (picked,) = _options(file, r"^const \{ (.+) \} = FETCH;")
    return [*picked.split(", "), *_options(file, r"^  (\w+): (?:data|text|callback),$")]


OPTIONS = {
    "TypeScript's process": (
        STARTING,
        0,
        _options("typescript/src/options.ts", MEMBER),
    ),
    "Rust's process": (STARTING, 1, _options("rust/src/builder.rs", METHOD)),
    "Python": (ANSWERING, 0, list(inspect.signature(Sending).parameters)),
    "TypeScript": (ANSWERING, 1, _adapter("fetch")),
    "the middleware": (ANSWERING, 2, _adapter("middleware")),
    "the gateway": (ANSWERING, 3, _gateway()),
    "Rust": (
        ANSWERING,
        4,
        _options("rust/src/adapters/tower.rs", r"^    pub fn (\w+)\(\s*self,\s"),
    ),
}
"""A client -> its table, its column, and the options in its code."""

MAKING = {"builder", "build", "new"}
"""Methods of Rust's builders that set no option."""


@pytest.mark.parametrize("client", OPTIONS)
def test_every_option_is_in_the_table(client: str) -> None:
    rows, column, names = OPTIONS[client]
    documented = [name for row in rows for name in re.findall(r"`(\w+)`", row[column])]
    assert sorted(documented) == sorted({*names} - MAKING)
