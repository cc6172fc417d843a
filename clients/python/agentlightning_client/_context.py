"""The span that encloses the running code."""

import contextvars
import sys
from typing import Any, Optional

from ._span import SpanContext
from ._warn import quietly

_active: "contextvars.ContextVar[Optional[SpanContext]]" = contextvars.ContextVar("agentlightning_span", default=None)


def active_context() -> Optional[SpanContext]:
    """The enclosing operation, or the active span of OpenTelemetry when the agent uses that; None at the top."""
    return _active.get() or _active_otel_span()


def enter(context: SpanContext) -> "contextvars.Token[Optional[SpanContext]]":
    return _active.set(context)


def leave(token: "contextvars.Token[Optional[SpanContext]]") -> None:
    _active.reset(token)


@quietly
def _active_otel_span() -> Optional[SpanContext]:
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    context = trace.get_current_span().get_span_context()
    return SpanContext(format(context.trace_id, "032x"), format(context.span_id, "016x")) if context.is_valid else None
