"""`options_of`: the parameters of ``stream/open``, spelled as JSON, for the core.

The protocol's converter is not asked: the core is tested without the protocol.
"""

from __future__ import annotations

from typing import Any, get_type_hints

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, override

from stream_sidecar.options import Policy, StreamOptions


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


_converter = Converter(forbid_extra_keys=True)


@_converter.register_structure_hook_factory(attrs.has)
def _structure(kind: type) -> Any:
    renamed = {
        field.name: override(rename=_camel(field.name)) for field in attrs.fields(kind)
    }
    return make_dict_structure_fn(kind, _converter, **renamed)


_converter.register_structure_hook(
    get_type_hints(Policy)["dialects"],
    lambda value, _: value if isinstance(value, str) else tuple(value),
)


def options_of(params: dict[str, Any]) -> StreamOptions:
    """stream/open's parameters as the core takes them."""
    return _converter.structure(params, StreamOptions)
