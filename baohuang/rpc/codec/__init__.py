"""Both ways between the values of the game and their messages, exact: `decode_x(encode_x(value)) == value`.

What a viewer may not see is None in the value and absent from the message. Encoders take
values as the rules make them; decoders take whatever came over the wire. They raise `CodecError` for what is
no value, and `RuleSetError` for a rule set that cannot be.
"""

from baohuang.rpc.codec.errors import CodecError, inside
from baohuang.rpc.codec.events import decode_event, decode_events, decode_seed, encode_event, encode_events
from baohuang.rpc.codec.rules import (
    decode_due,
    decode_dues,
    decode_opening,
    decode_outcome,
    decode_rules,
    encode_due,
    encode_opening,
    encode_outcome,
    encode_rules,
)
from baohuang.rpc.codec.values import (
    auto_play_reason,
    decode_action,
    decode_card,
    decode_cards,
    decode_hand,
    decode_seat,
    encode_action,
    encode_card,
    encode_cards,
    encode_hand,
    forfeit_reason,
)
from baohuang.rpc.codec.views import decode_view, encode_view

__all__ = [
    "CodecError",
    "auto_play_reason",
    "decode_action",
    "decode_card",
    "decode_cards",
    "decode_due",
    "decode_dues",
    "decode_event",
    "decode_events",
    "decode_hand",
    "decode_opening",
    "decode_outcome",
    "decode_rules",
    "decode_seat",
    "decode_seed",
    "decode_view",
    "encode_action",
    "encode_card",
    "encode_cards",
    "encode_due",
    "encode_event",
    "encode_events",
    "encode_hand",
    "encode_opening",
    "encode_outcome",
    "encode_rules",
    "encode_view",
    "forfeit_reason",
    "inside",
]
