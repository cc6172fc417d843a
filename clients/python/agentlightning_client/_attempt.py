"""The attempt that runs now, from the variables that its controller set."""

import os
from typing import NamedTuple, Optional


class Attempt(NamedTuple):
    endpoint: str
    """Of the gateway, without a slash at its end."""
    token: str
    attempt_id: str
    rollout_id: str


def current_attempt() -> Optional[Attempt]:
    """None outside of a run."""
    endpoint = os.environ.get("AGL_ENDPOINT", "").rstrip("/")
    token = os.environ.get("AGL_KEY") or os.environ.get("OPENAI_API_KEY", "")
    attempt_id = os.environ.get("AGL_ATTEMPT_ID", "")
    rollout_id = os.environ.get("AGL_ROLLOUT_ID", "")
    if not (endpoint and token and attempt_id and rollout_id):
        return None
    return Attempt(endpoint, token, attempt_id, rollout_id)
