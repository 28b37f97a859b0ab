"""What kind of file is not read: a table of endings and of how such files begin.

A database or a packed file may hold sessions that nobody has looked at; an image holds
none. Some kinds begin in the same way (a ZIP archive and an office document): then the
ending decides between them.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from stream_sidecar import patterns
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from pathlib import Path
    from re import Pattern

HEAD = 512
"""The bytes at the beginning of a file that say its kind."""


@frozen
class FileKind:
    """``words`` say what a file is, ``begins`` is how it begins."""

    group: Literal["database", "compressed", "archive", "other"]
    words: str
    endings: frozenset[str]
    begins: Pattern[bytes] | None

    @property
    def sentence(self) -> str:
        if self.group == "compressed":
            return f"it is compressed ({self.words})"
        return f"it is {self.words}"

    @property
    def may_hold_sessions(self) -> bool:
        return self.group != "other"


def _kind(group: Any, words: str, endings: str, begins: bytes = b"") -> FileKind:
    pattern = patterns.compile(begins, re.DOTALL) if begins else None
    return FileKind(
        group, words, frozenset(f".{each}" for each in endings.split()), pattern
    )


DATABASES = ("db", "sqlite", "sqlite3", "vscdb")
"""Endings of SQLite databases that agents use."""

_SQLITE = " ".join((*DATABASES, "db3", "s3db", "sl3", "sqlitedb"))
_ZIP = rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"

FILE_KINDS: tuple[FileKind, ...] = (
    _kind("database", "an SQLite database", _SQLITE, rb"SQLite format 3\0"),
    _kind("database", "a DuckDB database", "duckdb ddb", rb".{8}DUCK"),
    _kind("database", "an LMDB database", "mdb lmdb", rb".{16}\xde\xc0\xef\xbe"),
    _kind("database", "an Access database", "accdb", rb"\0\x01\0\0Standard "),
    _kind("database", "a LevelDB table", "ldb sst"),
    _kind("database", "a Realm database", "realm", rb".{16}T-DB"),
    _kind("database", "a database", "dbm gdbm ibd kdbx rdb"),
    _kind("database", "a Parquet dataset", "parquet", rb"PAR1[\x00-\x1f]"),
    _kind("database", "an Arrow dataset", "arrow feather", rb"ARROW1\0"),
    _kind("compressed", "gzip", "gz gzip tgz", rb"\x1f\x8b"),
    _kind("compressed", "zstd", "zst zstd tzst", rb"\x28\xb5\x2f\xfd"),
    _kind("compressed", "xz", "xz txz", rb"\xfd7zXZ\0"),
    _kind("compressed", "bzip2", "bz2 tbz tbz2", rb"BZh[1-9]1AY&SY"),
    _kind("compressed", "LZ4", "lz4", rb"\x04\x22\x4d\x18"),
    _kind("compressed", "an old format", "z lzma br sz", rb"\x1f[\x9d\xa0]"),
    _kind("archive", "a ZIP archive", "zip", _ZIP),
    _kind("archive", "a 7-Zip archive", "7z", rb"7z\xbc\xaf\x27\x1c"),
    _kind("archive", "a RAR archive", "rar", rb"Rar!\x1a\x07"),
    _kind("archive", "a tar archive", "tar", rb".{257}ustar"),
    _kind("other", "an office document", "docx xlsx pptx odt ods odp epub", _ZIP),
    _kind("other", "a package", "jar whl apk vsix xpi nupkg ipa", _ZIP),
    _kind("other", "a PNG image", "png", rb"\x89PNG\r\n"),
    _kind("other", "a JPEG image", "jpg jpeg", rb"\xff\xd8\xff"),
    _kind("other", "a GIF image", "gif", rb"GIF8[79]a"),
    _kind("other", "a WebP image", "webp", rb"RIFF.{4}WEBP"),
    _kind("other", "a PDF document", "pdf", rb"%PDF-[0-9]"),
    _kind("other", "a program", "so dylib exe", rb"\x7fELF|\xcf\xfa\xed\xfe|MZ.\0"),
    _kind("other", "WebAssembly", "wasm", rb"\0asm"),
    _kind(
        "other",
        "a recording of sound",
        "mp3 wav ogg",
        rb"ID3[\x02-\x04]|RIFF.{4}WAVE|OggS\0",
    ),
    _kind("other", "a film", "mp4 mov", rb".{4}ftyp"),
    _kind("other", "UTF-16 text", "", rb"\xff\xfe|\xfe\xff"),
    _kind(
        group="other",
        words="UTF-16 text without a byte order mark",
        endings="",
        begins=rb"(?:[\t\n\r -~]\0){4}|(?:\0[\t\n\r -~]){4}",
    ),
)


def kind_of(head: bytes, name: str = "") -> FileKind | None:
    """The kind of a file by how it begins, and by its name if that says nothing or
    leaves a choice. ``head`` should have ``HEAD`` bytes; None if neither is known."""
    ending = PurePath(name).suffix.lower()
    by_head = [row for row in FILE_KINDS if row.begins and row.begins.match(head)]
    by_name = [row for row in by_head or FILE_KINDS if ending in row.endings]
    return next(iter(by_name or by_head), None)


def kind_at(path: Path) -> FileKind | None:
    """The kind of the file at ``path``. Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return kind_of(file.read(HEAD), path.name)
