"""All that a dialect needs to write a prompt: messages, tools and the two configurations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from enum import StrEnum

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr

from playground.base.arguments import plain_faults
from playground.nouns.messages import Message
from playground.nouns.tools import ToolMetadata


class CacheDialect(StrEnum):
    """The provider whose form of cache marks to use; where None is allowed, the model decides."""

    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class PromptTemplateType(StrEnum):
    """The placeholders of an agent prompt, written `{NAME}`."""

    SYSTEM_INSTRUCTION = "SYSTEM_INSTRUCTION"
    AVAILABLE_TOOLS = "AVAILABLE_TOOLS"
    TOOL_USE_INSTRUCTION = "TOOL_USE_INSTRUCTION"
    USER_PROMPT = "USER_PROMPT"

    @property
    def placeholder(self) -> str:
        return f"{{{self.value}}}"


class TaskConfig(BaseModel):
    """The settings that stay the same during a task.

    `dialect_rules`, if given, replace a dialect's own rules: one text for all dialects, or texts by
    dialect name. With `system_rules` the prompt contains the playground's general rules;
    `system_rules` is False for requests that other programs made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_name: str = "anthropic/claude-sonnet-4-5"
    user_agent_prompt: str = ""
    user_prompt: str = ""
    dialect_rules: str | dict[str, str] | None = None
    system_rules: bool = True

    def rules_of(self, dialect: str) -> str | None:
        """Return the rules that replace a dialect's own, or None if there are none."""
        if isinstance(self.dialect_rules, dict):
            return self.dialect_rules.get(dialect)
        return self.dialect_rules


class DynamicTaskConfig(BaseModel):
    """The settings that may change with each request. The API key is never written to a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache_dialect: CacheDialect | None = None
    enable_explicit_caching: bool = False
    dynamic_environment_details_block: str = ""
    model_api_key: SecretStr | None = Field(default=None, exclude=True)


@plain_faults("PromptData(messages=[…], tool_metadata=[…]), or session.prompt_data()")
class PromptData(BaseModel):
    """The input of every dialect. `current_assistant_id` names the assistant that will answer."""

    model_config = ConfigDict(extra="forbid")

    messages: list[Message] = Field(default_factory=list)
    tool_metadata: list[ToolMetadata] = Field(default_factory=list)
    task_config: TaskConfig = Field(default_factory=TaskConfig)
    dynamic_task_config: DynamicTaskConfig = Field(
        default_factory=DynamicTaskConfig,
        validation_alias=AliasChoices("dynamic_task_config", "dyanmic_task_config"),  # Azad's typo
    )
    current_assistant_id: str = ""

    @property
    def dyanmic_task_config(self) -> DynamicTaskConfig:
        """`dynamic_task_config`, as the agent Azad spells it, from which users copy methods."""
        return self.dynamic_task_config

    def override_messages(self, messages: Sequence[Message]) -> None:
        """Replace the messages by deep copies, which later changes to `messages` do not reach."""
        self.messages = copy.deepcopy(list(messages))
