"""How ``repair`` reads messages: the engine's options, from the command's.

``--policy`` accepts what the editor's setting ``streamSidecar.policy`` and
message/repair accept (protocol.md, "Policy"), read by the same reader: some fields of a
policy, nested, as JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.options import Policy, StreamOptions
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_policy(text: str) -> Policy:
    """The policy with the fields that the JSON ``text`` has, and the defaults of all
    others. Raises BadParameter for anything else."""
    # Imported here: a run without a policy does not wait for the protocol's reader.
    from stream_sidecar.protocol.converter import structure
    from stream_sidecar.protocol.ignored import ignored
    from stream_sidecar.protocol.reading_options import PolicyPatch, patched

    try:
        fields = loads(text)
        policy = patched(Policy(), structure(fields, PolicyPatch, "policy"))
    except InvalidParamsError as error:
        raise click.BadParameter(str(error)) from None
    except ValueError:
        raise click.BadParameter(f"{text!r} is not JSON") from None
    if unknown := ignored(fields, Policy):
        raise click.BadParameter(f"policy.{unknown[0]}: is not known")
    return policy


def options_in(options: Mapping[str, Any]) -> StreamOptions:
    """The engine's options, from the options of the command."""
    policy = options["policy"] or Policy()
    return StreamOptions(
        provider=options["provider"], model=options["model"], policy=policy
    )
