"""Spans of an OpenTelemetry setup that is there already."""

import sys
from typing import Any, Mapping, Optional

from ._exporter import export_span, flush
from ._span import key_values
from ._warn import quietly, warn_once


def attach_opentelemetry(provider: Optional[Any] = None) -> bool:
    """Sends the spans of a tracer provider, by default the global one, beside wherever they go now.

    Calling it again changes nothing. Returns False, with a warning, when there is no provider that takes span processors.
    """
    if provider is None and "opentelemetry.trace" in sys.modules:
        provider = sys.modules["opentelemetry.trace"].get_tracer_provider()
    if not hasattr(provider, "add_span_processor"):
        warn_once("attach_opentelemetry found no tracer provider of OpenTelemetry's SDK: set one first, or pass it.")
        return False
    if not getattr(provider, "_agentlightning_attached", False):
        setattr(provider, "_agentlightning_attached", True)
        provider.add_span_processor(_SpanProcessor())
    return True


class _SpanProcessor:
    """The interface of opentelemetry.sdk.trace.SpanProcessor, without importing it."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        pass

    def _on_ending(self, span: Any) -> None:
        pass

    def on_end(self, span: Any) -> None:
        _export(span)

    def shutdown(self) -> None:
        flush()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        flush()
        return True


@quietly
def _export(span: Any) -> None:
    context = span.get_span_context()
    converted = {
        "traceId": format(context.trace_id, "032x"),
        "spanId": format(context.span_id, "016x"),
        "name": span.name,
        "kind": span.kind.value + 1,  # OTLP counts from "unspecified"
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": key_values(_mapping(span.attributes)),
        "events": [
            {"name": event.name, "timeUnixNano": str(event.timestamp), "attributes": key_values(_mapping(event.attributes))}
            for event in span.events
        ],
        "status": {"code": span.status.status_code.value, "message": span.status.description or ""},
    }
    if span.parent is not None:
        converted["parentSpanId"] = format(span.parent.span_id, "016x")
    scope = span.instrumentation_scope
    export_span(converted, scope.name if scope is not None else "")


def _mapping(attributes: Optional[Mapping[str, Any]]) -> Mapping[str, Any]:
    return attributes or {}
