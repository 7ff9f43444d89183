"""Build the two configurations of a session that was read, which most files do not mention.

A file of rows may have a hundred thousand sessions: they share the empty configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig

_NO_TASK: Final = TaskConfig(user_agent_prompt="", system_rules=False)
_OF_GEMINI: Final = "gemini/gemini-2.5-pro"
_NO_ENVIRONMENT: Final = DynamicTaskConfig(dynamic_environment_details_block="")


def task_of(model: str, agent_prompt: str) -> TaskConfig:
    """Return the task of a session with this agent prompt, and with this model if not empty."""
    if not model and not agent_prompt:
        return _NO_TASK
    named = {"model_name": model} if model else {}
    return TaskConfig(user_agent_prompt=agent_prompt, system_rules=False, **named)


def assuming_model(task: TaskConfig, bodies: Iterable[Mapping[str, Any]]) -> TaskConfig:
    """Return the task with a model of Gemini's if it names none and a body has Gemini's form.

    Such a body never names its model, because its address does. The task still names none.
    """
    named = task.model_fields_set
    if "model_name" in named or not any("contents" in body for body in bodies):
        return task
    return TaskConfig.model_construct({*named}, **{**dict(task), "model_name": _OF_GEMINI})


def dynamic_of(environment: str) -> DynamicTaskConfig:
    """Return the dynamic configuration with this environment block."""
    if not environment:
        return _NO_ENVIRONMENT
    return DynamicTaskConfig(dynamic_environment_details_block=environment)
