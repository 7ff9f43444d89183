"""Bring one session into another: its own values replace the other's, the rest stays."""

from __future__ import annotations

from dataclasses import replace

from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.sessions.editing import begins_with_system, system_prompt
from playground.sessions.session import Session


def joined(session: Session, given: Session) -> Session:
    """Return the session with the values that `given` has.

    If it has messages, the requests, compactions and rows are its own, too.
    """
    base = given if given.messages else session
    is_default = given.dynamic == DynamicTaskConfig()
    return replace(
        base,
        title=session.title or given.title,
        purpose=session.purpose or given.purpose,
        scripted=session.scripted and given.scripted,
        task=_task(session, given),
        dynamic=session.dynamic if is_default else given.dynamic,
        tools=given.tools or session.tools,
        recordings=(*given.recordings, *session.recordings),
    )


def _task(session: Session, given: Session) -> TaskConfig:
    """Return the task with the prompts and the model of `given`, if it has them.

    If its messages replace those of a session that begins with a system message, this becomes
    the agent prompt.
    """
    new = given.task
    update: dict[str, object] = {}
    if system_prompt(given):
        update = {"user_agent_prompt": new.user_agent_prompt, "system_rules": new.system_rules}
    elif given.messages and begins_with_system(session):
        update = {"user_agent_prompt": system_prompt(session)}
    if new.user_prompt:
        update["user_prompt"] = new.user_prompt
    if "model_name" in new.model_fields_set:
        update["model_name"] = new.model_name
    return session.task.model_copy(update=update)
