"""The emit functions."""

import json
import math
import traceback
from typing import Any, Dict, Mapping, Optional, Union

from ._context import active_context
from ._exporter import export_span, flush
from ._span import key_values, new_id, now_nano
from ._warn import quietly, warn_once


@quietly
def emit_reward(
    reward: Union[float, Mapping[str, float]],
    *,
    primary: Optional[str] = None,
    agent_name: Optional[str] = None,
    response_id: Optional[str] = None,
    attributes: Optional[Mapping[str, Any]] = None,
) -> None:
    """Reports a reward of this attempt: a number, or several by name. Returns when it is safe, or was given up with a warning.

    It travels as the standard event ``gen_ai.evaluation.result``. ``primary`` names the dimension that is trained on; without it the one
    named ``reward``, else the last. With ``agent_name`` it belongs to one role of a multi-agent system instead of the attempt,
    with ``response_id`` (the ``id`` of one answer of the model) to that call.
    A value that is no finite number is refused with a warning: a missing reward is never 0.
    """
    given: Mapping[str, Any] = reward if isinstance(reward, Mapping) else {"reward": reward}
    if not given:
        warn_once("emit_reward was given no dimension: nothing is reported.")
    dimensions = {str(name): float(value) for name, value in given.items() if _is_reward(name, value)}
    if primary is not None:
        if primary in dimensions:
            dimensions[primary] = dimensions.pop(primary)  # The last one counts.
        else:
            warn_once('emit_reward has no dimension "%s", which was named as the primary one.' % primary)
    if not dimensions:
        return
    now = now_nano()
    events = [
        {
            "name": "gen_ai.evaluation.result",
            "timeUnixNano": now,
            "attributes": key_values(
                {
                    "gen_ai.evaluation.name": name,
                    "agentlightning.reward.agent_name": agent_name,
                    "gen_ai.response.id": response_id,
                    "gen_ai.evaluation.score.value": value,
                }
            ),
        }
        for name, value in dimensions.items()
    ]
    _emit("agentlightning.reward", attributes or {}, events=events)
    flush()


@quietly
def emit_message(message: str, *, attributes: Optional[Mapping[str, Any]] = None) -> None:
    """Reports a text, for instance a step of reasoning that is worth to see in the trace."""
    _emit("agentlightning.message", {**(attributes or {}), "agentlightning.message.body": str(message)})


@quietly
def emit_object(value: Any, *, attributes: Optional[Mapping[str, Any]] = None) -> None:
    """Reports anything that JSON can hold; what it cannot hold becomes its text."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    _emit("agentlightning.object", {**(attributes or {}), "agentlightning.object.json": text})


@quietly
def emit_annotation(annotation: Mapping[str, Any]) -> None:
    """Reports attributes of any name."""
    _emit("agentlightning.annotation", annotation)


@quietly
def emit_exception(error: BaseException, *, attributes: Optional[Mapping[str, Any]] = None) -> None:
    """Reports an error that the agent has caught, as the standard event ``exception``."""
    _emit("agentlightning.exception", attributes or {}, events=[exception_event(error)], status={"code": 2, "message": str(error)})


def exception_event(error: BaseException) -> Dict[str, Any]:
    """An error as OpenTelemetry's conventions have it."""
    attributes = {
        "exception.type": type(error).__name__,
        "exception.message": str(error),
        "exception.stacktrace": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
    }
    return {"name": "exception", "timeUnixNano": now_nano(), "attributes": key_values(attributes)}


def _emit(name: str, attributes: Mapping[str, Any], **more: Any) -> None:
    parent = active_context()
    now = now_nano()
    span = {
        "traceId": parent.trace_id if parent else new_id(16),
        "spanId": new_id(8),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": now,
        "endTimeUnixNano": now,
        "attributes": key_values(attributes),
        **more,
    }
    if parent:
        span["parentSpanId"] = parent.span_id
    export_span(span)


def _is_reward(name: object, value: Any) -> bool:
    if isinstance(value, bool) or not hasattr(value, "__float__") or not math.isfinite(value):
        warn_once('Reward "%s" is %r, not a finite number: it is not reported.' % (name, value))
        return False
    return True
