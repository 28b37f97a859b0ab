"""Messages that are no requests, with the error that answers them."""

from __future__ import annotations

from typing import Any

LIST = '"method":"stream/list"'


ANSWERED = 0


# name, body, expected id, expected code
ENVELOPES: list[tuple[str, str | bytes, Any, int]] = [
    ("string id", '{"jsonrpc":"2.0","id":"","method":"stream/list"}', "", ANSWERED),
    ("id 0", '{"jsonrpc":"2.0","id":0,"method":"stream/list"}', 0, ANSWERED),
    ("large id", f'{{"jsonrpc":"2.0","id":{2**53 - 1},{LIST}}}', 2**53 - 1, ANSWERED),
    ("negative id", f'{{"jsonrpc":"2.0","id":-7,{LIST}}}', -7, ANSWERED),
    ("null params", f'{{"jsonrpc":"2.0","id":1,{LIST},"params":null}}', 1, ANSWERED),
    ("more members", f'{{"jsonrpc":"2.0","id":1,{LIST},"x":[]}}', 1, ANSWERED),
    ("white space", f' {{"jsonrpc" : "2.0","id":1,{LIST}}}\r\n', 1, ANSWERED),
    ("BOM", f'\ufeff{{"jsonrpc":"2.0","id":1,{LIST}}}', 1, ANSWERED),
    ("UTF-16", f'{{"jsonrpc":"2.0","id":1,{LIST}}}'.encode("utf-16"), 1, ANSWERED),
    ("half surrogate", f'{{"jsonrpc":"2.0","id":"\\ud83d",{LIST}}}', "\ufffd", 0),
    ("no JSON", "{", None, -32700),
    ("no JSON, id in front", '{"jsonrpc":"2.0","id":5,"method":', 5, -32700),
    ("no JSON, id cut off", '{"jsonrpc":"2.0","id":5', None, -32700),
    ("no JSON, foreign id", '{"params":{"id":5},"x"}', None, -32700),
    ("no JSON, text id", '{"id":"a\\"b","method":"x",}', 'a"b', -32700),
    ("no JSON, bad id", '{"id":1.5,"method":"x",}', None, -32700),
    ("no JSON, broken id", '{"id":"\\x","method":"x",}', None, -32700),
    ("no UTF-8", b'{"jsonrpc":"2.0","id":5,"method":"\xff"}', 5, -32700),
    ("nested too deeply", '{"id":5,"x":' + "[" * 100_000, 5, -32700),
    ("JSON and more", "{}{}", None, -32700),
    ("batch", f'[{{"jsonrpc":"2.0","id":1,{LIST}}}]', None, -32600),
    ("empty batch", "[]", None, -32600),
    ("text", '"stream/list"', None, -32600),
    ("null", "null", None, -32600),
    ("empty object", "{}", None, -32600),
    ("no jsonrpc", f'{{"id":1,{LIST}}}', 1, -32600),
    ("jsonrpc 1.0", f'{{"jsonrpc":"1.0","id":1,{LIST}}}', 1, -32600),
    ("jsonrpc 2", f'{{"jsonrpc":2.0,"id":1,{LIST}}}', 1, -32600),
    ("no method", '{"jsonrpc":"2.0","id":1}', 1, -32600),
    ("method is null", '{"jsonrpc":"2.0","id":1,"method":null}', 1, -32600),
    ("method is a number", '{"jsonrpc":"2.0","id":1,"method":1}', 1, -32600),
    ("null id", f'{{"jsonrpc":"2.0","id":null,{LIST}}}', None, -32600),
    ("float id", f'{{"jsonrpc":"2.0","id":1.0,{LIST}}}', None, -32600),
    ("boolean id", f'{{"jsonrpc":"2.0","id":true,{LIST}}}', None, -32600),
    ("object id", f'{{"jsonrpc":"2.0","id":{{}},{LIST}}}', None, -32600),
    ("huge id", f'{{"jsonrpc":"2.0","id":{2**53},{LIST}}}', None, -32600),
    ("endless id", f'{{"jsonrpc":"2.0","id":{"9" * 30},{LIST}}}', None, -32600),
    ("array params", f'{{"jsonrpc":"2.0","id":1,{LIST},"params":[]}}', 1, -32602),
    ("text params", f'{{"jsonrpc":"2.0","id":1,{LIST},"params":"x"}}', 1, -32602),
    ("unknown method", '{"jsonrpc":"2.0","id":1,"method":"$/x"}', 1, -32601),
]
