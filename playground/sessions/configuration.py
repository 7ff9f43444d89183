"""The two configurations of a session that was read: most files say nothing of either.

A file of rows has a hundred thousand sessions, which share those that are empty.
"""

from __future__ import annotations

from typing import Final

from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig

_NO_TASK: Final = TaskConfig(user_agent_prompt="", system_rules=False)
_NO_ENVIRONMENT: Final = DynamicTaskConfig(dynamic_environment_details_block="")


def task_of(model: str, agent_prompt: str) -> TaskConfig:
    """Return the task of a session with this agent prompt, and this model where it names one."""
    if not model and not agent_prompt:
        return _NO_TASK
    named = {"model_name": model} if model else {}
    return TaskConfig(user_agent_prompt=agent_prompt, system_rules=False, **named)


def dynamic_of(environment: str) -> DynamicTaskConfig:
    """Return the settings that change with each request, if only an environment block is known."""
    if not environment:
        return _NO_ENVIRONMENT
    return DynamicTaskConfig(dynamic_environment_details_block=environment)
