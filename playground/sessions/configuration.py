"""Build the two configurations of a session that was read, which most files do not mention.

A file of rows may have a hundred thousand sessions: they share the empty configurations.
"""

from __future__ import annotations

from typing import Final

from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig

_NO_TASK: Final = TaskConfig(user_agent_prompt="", system_rules=False)
_NO_ENVIRONMENT: Final = DynamicTaskConfig(dynamic_environment_details_block="")


def task_of(model: str, agent_prompt: str) -> TaskConfig:
    """Return the task of a session with this agent prompt, and with this model if not empty."""
    if not model and not agent_prompt:
        return _NO_TASK
    named = {"model_name": model} if model else {}
    return TaskConfig(user_agent_prompt=agent_prompt, system_rules=False, **named)


def dynamic_of(environment: str) -> DynamicTaskConfig:
    """Return the dynamic configuration with this environment block."""
    if not environment:
        return _NO_ENVIRONMENT
    return DynamicTaskConfig(dynamic_environment_details_block=environment)
