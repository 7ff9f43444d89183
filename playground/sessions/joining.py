"""Join two sessions: the values of one replace those of the other."""

from __future__ import annotations

from dataclasses import replace

from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.sessions.editing import begins_with_system, system_prompt
from playground.sessions.session import Session


def joined(session: Session, other: Session) -> Session:
    """Return a session with the recordings of both. Its messages (with all that belongs to them,
    such as requests, parameters and expected replies), tools, prompts and model are those of
    `other` if it has any, else those of `session`."""
    base = other if other.messages else session
    is_default = other.dynamic == DynamicTaskConfig()
    return replace(
        base,
        title=session.title or other.title,
        purpose=session.purpose or other.purpose,
        scripted=session.scripted and other.scripted,
        task=_task(session, other),
        dynamic=session.dynamic if is_default else other.dynamic,
        tools=other.tools or session.tools,
        recordings=(*other.recordings, *session.recordings),
    )


def _task(session: Session, other: Session) -> TaskConfig:
    """Return the task with the prompts and the model of `other`, if it has them. If `session`
    begins with a system message, and the messages of `other` replace it, the system message becomes
    the agent prompt."""
    new = other.task
    update: dict[str, object] = {}
    if system_prompt(other):
        update = {"user_agent_prompt": new.user_agent_prompt, "system_rules": new.system_rules}
    elif other.messages and begins_with_system(session):
        update = {"user_agent_prompt": system_prompt(session)}
    if new.user_prompt:
        update["user_prompt"] = new.user_prompt
    if "model_name" in new.model_fields_set:
        update["model_name"] = new.model_name
    return session.task.model_copy(update=update)
