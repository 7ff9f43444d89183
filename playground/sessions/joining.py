"""A session brought into another: what it brings replaces, the rest stays."""

from __future__ import annotations

from dataclasses import replace

from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.sessions.editing import begins_with_system, system_prompt
from playground.sessions.session import Session


def joined(session: Session, given: Session) -> Session:
    """Return the session with what the given one brings. What is known of messages goes with them:
    no request, compaction or row is left of messages that were replaced.
    """
    known = given if given.messages else session
    is_default = given.dynamic == DynamicTaskConfig()
    return replace(
        known,
        title=session.title or given.title,
        purpose=session.purpose or given.purpose,
        scripted=session.scripted and given.scripted,
        task=_task(session, given),
        dynamic=session.dynamic if is_default else given.dynamic,
        tools=given.tools or session.tools,
        recordings=(*given.recordings, *session.recordings),
    )


def _task(session: Session, given: Session) -> TaskConfig:
    """Return the prompts and the model that are brought, and for the rest those that there are. A
    system message that goes with its conversation is the agent prompt of the next one.
    """
    brought = given.task
    update: dict[str, object] = {}
    if system_prompt(given):
        update = {"user_agent_prompt": brought.user_agent_prompt}
        update["system_rules"] = brought.system_rules
    elif given.messages and begins_with_system(session):
        update = {"user_agent_prompt": system_prompt(session)}
    if brought.user_prompt:
        update["user_prompt"] = brought.user_prompt
    if "model_name" in brought.model_fields_set:
        update["model_name"] = brought.model_name
    return session.task.model_copy(update=update)
