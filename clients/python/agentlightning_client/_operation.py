"""Spans around the agent's own functions and blocks."""

import functools
import inspect
import json
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Type, TypeVar, Union, cast

from ._context import active_context, enter, leave
from ._emit import exception_event
from ._exporter import export_span
from ._span import SpanContext, key_values, new_id, now_nano
from ._warn import quietly

_Function = TypeVar("_Function", bound=Callable[..., Any])


class operation:  # noqa: N801 - used like a function
    """A span around a block (``with operation("plan"):``) or each call of a function (``@operation("search")``), async ones too.

    Results and errors go through unchanged. Without a name (``@operation``) it is the function's own.
    """

    def __new__(cls, name: Union[str, Callable[..., Any]]) -> Any:
        if not callable(name):
            return super().__new__(cls)
        return cls(getattr(name, "__name__", type(name).__name__))(name)

    def __init__(self, name: str) -> None:
        self.name = name
        # A stack, so that one object may be entered again within itself.
        self._open: List["_OpenSpan"] = []

    def __enter__(self) -> "operation":
        self._open.append(_OpenSpan(self.name))
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._open.pop().end(error)

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def asynchronous(*args: Any, **kwargs: Any) -> Any:
                span = _OpenSpan(self.name, args, kwargs)
                try:
                    return span.keep(await function(*args, **kwargs))
                except BaseException as error:
                    span.fail(error)
                    raise
                finally:
                    span.end()

            return cast(_Function, asynchronous)

        @functools.wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:
            span = _OpenSpan(self.name, args, kwargs)
            try:
                return span.keep(function(*args, **kwargs))
            except BaseException as error:
                span.fail(error)
                raise
            finally:
                span.end()

        return cast(_Function, synchronous)


class _OpenSpan:
    def __init__(self, name: str, args: Any = (), kwargs: Optional[Dict[str, Any]] = None) -> None:
        parent = active_context()
        self._context = SpanContext(parent.trace_id if parent else new_id(16), new_id(8))
        self._parent = parent
        self._name = name
        self._start = now_nano()
        self._attributes: Dict[str, Any] = {"agentlightning.operation.name": name}
        self._error: Optional[BaseException] = None
        if kwargs is not None:
            self._note("agentlightning.operation.input", [list(args), kwargs] if kwargs else list(args))
        self._token = enter(self._context)

    def keep(self, result: Any) -> Any:
        self._note("agentlightning.operation.output", result)
        return result

    def fail(self, error: BaseException) -> None:
        self._error = error

    @quietly
    def end(self, error: Optional[BaseException] = None) -> None:
        error = error or self._error
        leave(self._token)
        span: Dict[str, Any] = {
            "traceId": self._context.trace_id,
            "spanId": self._context.span_id,
            "name": self._name,
            "kind": 1,
            "startTimeUnixNano": self._start,
            "endTimeUnixNano": now_nano(),
            "attributes": key_values(self._attributes),
        }
        if self._parent:
            span["parentSpanId"] = self._parent.span_id
        if error is not None:
            span["events"] = [exception_event(error)]
            span["status"] = {"code": 2, "message": str(error)}
        export_span(span)

    @quietly
    def _note(self, attribute: str, value: Any) -> None:
        self._attributes[attribute] = json.dumps(value, default=str, ensure_ascii=False)
