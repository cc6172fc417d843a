"""Spans in OTLP's JSON form."""

import math
import os
import time
from typing import Any, Dict, List, Mapping, NamedTuple

MAX_DEPTH = 16


class SpanContext(NamedTuple):
    """What a span is a child of."""

    trace_id: str
    span_id: str


def key_values(attributes: Mapping[str, Any], depth: int = 0) -> List[Dict[str, Any]]:
    return [{"key": str(key), "value": any_value(value, depth)} for key, value in attributes.items() if value is not None]


def any_value(value: Any, depth: int = 0) -> Dict[str, Any]:
    """Anything an agent may hold, as far as it can be told; what cannot becomes its text."""
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if abs(value) < 2**63 else {"stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value} if math.isfinite(value) else {"stringValue": str(value)}
    if isinstance(value, str):
        return {"stringValue": value}
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        return {"kvlistValue": {"values": key_values(value, depth + 1)}}
    if depth < MAX_DEPTH and isinstance(value, (list, tuple, set, frozenset)):
        return {"arrayValue": {"values": [any_value(item, depth + 1) for item in value]}}
    return {"stringValue": str(value)}


def new_id(size: int) -> str:
    """Random, as W3C Trace Context wants them: 16 bytes for a trace, 8 for a span."""
    return os.urandom(size).hex()


def now_nano() -> str:
    return str(time.time_ns())
