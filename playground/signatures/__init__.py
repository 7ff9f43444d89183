"""Signatures of fields and the three adapters that write and read them, as DSPy does (3.4.1)."""

from playground.signatures.adapters import ChatAdapter, FieldAdapter, JSONAdapter
from playground.signatures.signature import Field, InputField, OutputField, Signature
from playground.signatures.streaming import FieldStream
from playground.signatures.types import Code, History, Image, Reasoning, Tool, ToolCalls
from playground.signatures.xml_adapter import XMLAdapter

__all__ = [
    "ChatAdapter",
    "Code",
    "Field",
    "FieldAdapter",
    "FieldStream",
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
