"""The prompts that an attempt runs with."""

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ._attempt import Attempt, current_attempt

REQUEST_TIMEOUT_S = 10.0
RETRY_DELAYS_S = (0.1, 0.4, 1.6)
_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}")


class PromptError(Exception):
    """The prompt cannot be had, or cannot be filled in. Unlike a report, an agent cannot go on without its prompt."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Prompt(NamedTuple):
    name: str
    version: Optional[int]
    """None outside of a run."""
    template: str
    """With places such as ``{{question}}``."""
    placeholders: Tuple[str, ...]

    def render(self, **values: Any) -> str:
        """The text with its places filled in. Raises PromptError for a place without a value, or a value without a place."""
        for name in self.placeholders:
            if name not in values:
                raise PromptError("prompt_value_missing", 'The prompt "%s" has a place {{%s}} and got no value.' % (self.name, name))
        for name in values:
            if name not in self.placeholders:
                raise PromptError("prompt_value_unknown", 'The prompt "%s" has no place {{%s}}.' % (self.name, name))
        return _PLACE.sub(lambda match: str(values[match[1]]) if match[1] in values else match[0], self.template)


def get_prompt(name: str, *, fallback: Optional[str] = None) -> Prompt:
    """A prompt of the store, in the version that this attempt runs with. Ask for it in each attempt anew.

    Outside of a run it is the ``fallback``; within one never, because the attempt's reward would be taken for that of the
    prompt it did not use. Raises PromptError: ``prompt_not_found``, ``prompt_unavailable``, ``prompt_outside_of_run``.
    """
    attempt = current_attempt()
    if attempt is not None:
        got = _fetch(attempt, name)
        return Prompt(got["name"], got["version"], got["template"], tuple(got["placeholders"]))
    if fallback is None:
        raise PromptError(
            "prompt_outside_of_run",
            'The prompt "%s" was asked for outside of a run (AGL_ENDPOINT, AGL_ATTEMPT_ID and a key are not set): give it a fallback.' % name,
        )
    return Prompt(name, None, fallback, tuple(dict.fromkeys(_PLACE.findall(fallback))))


def _fetch(attempt: Attempt, name: str) -> Dict[str, Any]:
    url = attempt.endpoint + "/agl/v1/prompts/" + urllib.parse.quote(name, safe="")
    problem = ""
    for delay in (*RETRY_DELAYS_S, None):
        request = urllib.request.Request(url, headers={"authorization": "Bearer " + attempt.token})
        try:
            # No proxy: the gateway is where the controller says, and the key is for it alone.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=REQUEST_TIMEOUT_S) as response:
                got: Dict[str, Any] = json.loads(response.read())
                return got
        except urllib.error.HTTPError as error:
            with error:
                problem = "%s answers %d: %s" % (url, error.code, error.read().decode("utf-8", "replace")[:500])
            if error.code != 429 and error.code < 500:
                raise PromptError("prompt_not_found" if error.code == 404 else "prompt_unavailable", problem) from error
        except (OSError, ValueError) as error:
            problem = "%s cannot be read: %s" % (url, error)
        if delay is not None:
            time.sleep(delay)
    raise PromptError("prompt_unavailable", problem)
