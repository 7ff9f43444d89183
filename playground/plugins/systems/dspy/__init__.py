"""DSPy 3.4.1's signatures, and its three adapters, which write prompts and read answers."""

from playground.plugins.systems.dspy.adapter import FieldAdapter, FieldInfoWithName, FieldRead
from playground.plugins.systems.dspy.adapters import ChatAdapter, JSONAdapter
from playground.plugins.systems.dspy.calling import AnswerFault
from playground.plugins.systems.dspy.signature import Field, InputField, OutputField, Signature
from playground.plugins.systems.dspy.streaming import FieldStream
from playground.plugins.systems.dspy.types import (
    Audio,
    Code,
    FieldType,
    File,
    History,
    Image,
    Reasoning,
    Tool,
    ToolCalls,
)
from playground.plugins.systems.dspy.xml_adapter import XMLAdapter

__all__ = [
    "AnswerFault",
    "Audio",
    "ChatAdapter",
    "Code",
    "Field",
    "FieldAdapter",
    "FieldInfoWithName",
    "FieldRead",
    "FieldStream",
    "FieldType",
    "File",
    "History",
    "Image",
    "InputField",
    "JSONAdapter",
    "OutputField",
    "Reasoning",
    "Signature",
    "Tool",
    "ToolCalls",
    "XMLAdapter",
]
