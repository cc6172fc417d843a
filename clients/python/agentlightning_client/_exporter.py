"""Sends spans in the background, and whatever is left when the process exits."""

import atexit
import json
import os
import threading
import time
import urllib.error
import urllib.request
from typing import Any, Dict, List, NamedTuple, Optional

from ._attempt import Attempt, current_attempt
from ._span import key_values
from ._warn import quietly, warn_once

BATCH_DELAY_S = 0.05
"""What was emitted together goes together."""
MAX_BATCH_SPANS = 500
MAX_PENDING_SPANS = 10_000
"""Beyond this an endpoint that does not answer must not fill the agent's memory."""
REQUEST_TIMEOUT_S = 10.0
RETRY_DELAYS_S = (0.1, 0.4, 1.6)


class _Queued(NamedTuple):
    attempt: Attempt
    span: Dict[str, Any]
    scope: str


class _Exporter:
    def __init__(self) -> None:
        self._pending: List[_Queued] = []
        self._lock = threading.Lock()
        # One sender at a time, so that spans arrive in order.
        self._sending = threading.Lock()
        self._wake = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def add(self, queued: _Queued) -> None:
        with self._lock:
            if len(self._pending) >= MAX_PENDING_SPANS:
                warn_once("More than %d spans wait; further ones are dropped." % MAX_PENDING_SPANS)
                return
            self._pending.append(queued)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="agentlightning-client", daemon=True)
                self._thread.start()
        self._wake.set()

    def flush(self) -> None:
        with self._sending:
            with self._lock:
                batch, self._pending = self._pending, []
            # Spans of one attempt stay together; most processes have one attempt only.
            for attempt in dict.fromkeys(queued.attempt for queued in batch):
                own = [queued for queued in batch if queued.attempt == attempt]
                for at in range(0, len(own), MAX_BATCH_SPANS):
                    _send(attempt, own[at : at + MAX_BATCH_SPANS])

    def _run(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(BATCH_DELAY_S)
            self._wake.clear()
            quietly(self.flush)()


_exporter = _Exporter()
atexit.register(quietly(lambda: _exporter.flush()))


def _after_fork() -> None:
    # A forked child has neither the thread nor the right to send its parent's spans again.
    global _exporter
    _exporter = _Exporter()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def export_span(span: Dict[str, Any], scope: str = "agentlightning") -> None:
    attempt = current_attempt()
    if attempt is None:
        warn_once("Outside of a run (AGL_ENDPOINT, AGL_ATTEMPT_ID and a key are not set) nothing is reported.")
        return
    _exporter.add(_Queued(attempt, span, scope))


@quietly
def flush() -> None:
    """Returns when everything emitted so far has been acknowledged, or given up with a warning."""
    _exporter.flush()


def _send(attempt: Attempt, group: List[_Queued]) -> None:
    resource = key_values({"agl.rollout_id": attempt.rollout_id, "agl.attempt_id": attempt.attempt_id})
    scopes = [
        {"scope": {"name": name}, "spans": [queued.span for queued in group if queued.scope == name]}
        for name in dict.fromkeys(queued.scope for queued in group)
    ]
    body = json.dumps({"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": scopes}]}).encode()
    url = attempt.endpoint + "/v1/traces"
    headers = {"content-type": "application/json", "authorization": "Bearer " + attempt.token}
    for delay in (*RETRY_DELAYS_S, None):
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")
        try:
            # No proxy: the gateway is where the controller says, and the key is for it alone.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=REQUEST_TIMEOUT_S) as response:
                text = response.read().decode("utf-8", "replace")
            if '"partialSuccess"' in text:
                warn_once("Not all that was reported was kept: " + text[:500])
            return
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode("utf-8", "replace")[:500]
            if error.code != 429 and error.code < 500:
                warn_once("%s refuses the spans (%d): %s" % (url, error.code, text))
                return
            problem = "answers %d" % error.code
        except OSError as error:
            problem = "cannot be reached: %s" % (error,)
        if delay is None:
            warn_once("%s %s; spans are lost." % (url, problem))
        else:
            time.sleep(delay)
