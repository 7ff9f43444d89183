"""Flink-Agents' `ToolMetadata`, which describes a tool's arguments by a pydantic model.

Source: Apache Flink-Agents, discussion 75, and its `api/tools/tool.py` at commit 8ad3a32.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from playground.nouns import tools
from playground.plugins.systems.flink_agents.argument_names import model_without, schema_without

_FIELDS = tuple(tools.ToolMetadata.model_fields)


class ToolMetadata(tools.ToolMetadata):
    """A tool with a pydantic model of its arguments, which is given or built from the schema. The
    tool's JSON is `{name, description, args_schema}`, as in Flink-Agents, and `examples`. Two tools
    are equal if their names, descriptions, schemas and examples are equal.
    """

    _given_model: type[BaseModel] | None = PrivateAttr(default=None)
    _built_model: type[BaseModel] | None = PrivateAttr(default=None)

    if TYPE_CHECKING:  # the arguments that pydantic accepts

        def __init__(
            self,
            *,
            name: str,
            description: str = "",
            args_schema: tools.Schema | type[BaseModel] = ...,
            input_schema: tools.Schema = ...,
            examples: Sequence[tools.ToolExample] = (),
        ) -> None: ...

    @property
    def args_schema(self) -> type[BaseModel]:
        """The model of the arguments.

        Its `model_json_schema()` is the tool's schema; its `model_validate` reads a call's
        arguments in pydantic's lax mode.
        """
        if self._given_model is not None:
            return self._given_model
        if self._built_model is None:
            # imported here, because jsonschema takes a tenth of a second to load
            from playground.plugins.systems.flink_agents.schema_models import model_of_schema

            self._built_model = model_of_schema(self.name, self.input_schema)
        return self._built_model

    def without(self, names: Collection[str]) -> ToolMetadata:
        """Return the same tool without the arguments of these names."""
        arguments = model_without(self._given_model, names) if self._given_model else None
        return ToolMetadata(
            name=self.name,
            description=self.description,
            args_schema=arguments or schema_without(self.input_schema, names),
            examples=self.examples,
        )

    @model_validator(mode="wrap")
    @classmethod
    def _keep_the_model(cls, data: Any, validate: ModelWrapValidatorHandler[ToolMetadata]) -> Any:
        if isinstance(data, tools.ToolMetadata) and not isinstance(data, cls):
            data = {name: getattr(data, name) for name in _FIELDS}
        metadata = validate(data)
        model = data.get("args_schema") if isinstance(data, Mapping) else None
        if isinstance(model, type):
            metadata._given_model = model
        return metadata

    @model_serializer(mode="wrap")
    def _as_flink_agents(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = write(self)
        if "input_schema" in dumped:
            dumped["args_schema"] = dumped.pop("input_schema")
        if not self.examples:  # a field that Flink-Agents does not know
            dumped.pop("examples", None)
        return dumped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tools.ToolMetadata):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    __hash__ = None  # type: ignore[assignment]  # a schema is a dict, which cannot be hashed
