"""One warning for each text: an agent in a loop must not drown its own output."""

import functools
import sys
from typing import Any, Callable, Set, TypeVar, cast

_warned: Set[str] = set()
_Function = TypeVar("_Function", bound=Callable[..., Any])


def warn_once(message: str) -> None:
    if message in _warned:
        return
    _warned.add(message)
    # Not the warnings module: a filter may turn its warnings into errors, and nothing may be raised into the agent.
    print("[agentlightning] " + message, file=sys.stderr)


def quietly(function: _Function) -> _Function:
    """An agent must not fail because of what it reports."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001
            warn_once("Something could not be reported: %r" % (error,))
            return None

    return cast(_Function, wrapped)
