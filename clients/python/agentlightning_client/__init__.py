"""What an agent reports about itself: rewards, messages, objects, annotations, exceptions, operations; and the prompts it runs with.

Reporting does nothing outside of a run, and never raises into the agent.
"""

from ._emit import emit_annotation, emit_exception, emit_message, emit_object, emit_reward
from ._exporter import flush
from ._open_telemetry import attach_opentelemetry
from ._operation import operation
from ._prompt import Prompt, PromptError, get_prompt

__all__ = [
    "Prompt",
    "PromptError",
    "attach_opentelemetry",
    "emit_annotation",
    "emit_exception",
    "emit_message",
    "emit_object",
    "emit_reward",
    "flush",
    "get_prompt",
    "operation",
]
