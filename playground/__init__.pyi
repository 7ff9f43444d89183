"""What a type checker sees of the package: the names that it loads when they are used."""

from typing import Any

from playground.base.errors import InputFault as InputFault
from playground.base.errors import PlaygroundError as PlaygroundError
from playground.base.errors import SyntaxFault as SyntaxFault
from playground.base.errors import UnknownNameError as UnknownNameError
from playground.cache.answers.placement import place_cache as place_cache
from playground.cache.answers.simulation import cache_matrix as cache_matrix
from playground.cache.answers.simulation import simulate_cache as simulate_cache
from playground.cache.answers.what_if import WhatIf as WhatIf
from playground.cache.answers.wire import cache_on_wire as cache_on_wire
from playground.cache.rules import provider_names as provider_names
from playground.corpora import corpus as corpus
from playground.dialects import DeclaredDialect as DeclaredDialect
from playground.dialects import Dialect as Dialect
from playground.dialects import dialect_findings as dialect_findings
from playground.dialects import dialect_names as dialect_names
from playground.dialects import get_dialect as get_dialect
from playground.dialects.files import dump_dialect as dump_dialect
from playground.dialects.files import load_dialect as load_dialect
from playground.dialects.marks.own_policies import load_policy as load_policy
from playground.dialects.marks.policies import Policy as Policy
from playground.dialects.marks.policies import policy_names as policy_names
from playground.dialects.models import dialect_for as dialect_for
from playground.dialects.raw_prompts import ChatTemplate as ChatTemplate
from playground.dialects.reading import parse as parse
from playground.lab.audit import audit_template as audit_template
from playground.lab.derivation import dialect_from_template as dialect_from_template
from playground.lab.derivation import propose_dialect as propose_dialect
from playground.lab.guides import guide_for as guide_for
from playground.lab.laws import check_dialect as check_dialect
from playground.lab.savings import compaction as compaction
from playground.lab.savings import plan_tools as plan_tools
from playground.nouns.messages import Message as Message
from playground.nouns.prompt_data import PromptData as PromptData
from playground.nouns.tool_formats import read_tools as read_tools
from playground.nouns.tools import ToolMetadata as ToolMetadata
from playground.parsing.parser import DialectParser as DialectParser
from playground.parsing.switches import Switches as Switches
from playground.parsing.syntax import Syntax as Syntax
from playground.questions.carry import carry as carry
from playground.questions.comparison import compare as compare
from playground.questions.detection import detect as detect
from playground.questions.provider_models import PROVIDERS as PROVIDERS
from playground.questions.provider_payload import provider_payload as provider_payload
from playground.questions.raw_prompt import raw_prompt as raw_prompt
from playground.questions.server_view import server_names as server_names
from playground.questions.timeline import replay as replay
from playground.questions.token_counts import count_tokens as count_tokens
from playground.questions.tool_schemas import tool_costs as tool_costs
from playground.questions.tool_schemas import tool_portability as tool_portability
from playground.questions.trials import expect as expect
from playground.questions.trials import serving as serving
from playground.questions.trials import trial as trial
from playground.questions.versions import diff as diff
from playground.recordings.apis import api_names as api_names
from playground.recordings.decoding import decode_stream as decode_stream
from playground.recordings.recording import Recording as Recording
from playground.sessions.in_memory import recording as recording
from playground.sessions.in_memory import session as session
from playground.sessions.loading import load_recording as load_recording
from playground.sessions.loading import load_session as load_session
from playground.sessions.loading import load_sessions as load_sessions
from playground.sessions.loading import sample_sessions as sample_sessions
from playground.sessions.native_format import dump_session as dump_session
from playground.sessions.native_format import read_recording as read_recording
from playground.sessions.session import ExpectedCall as ExpectedCall
from playground.sessions.session import Session as Session
from playground.sessions.tool_files import load_tools as load_tools
from playground.signatures import ChatAdapter as ChatAdapter
from playground.signatures import JSONAdapter as JSONAdapter
from playground.signatures import Signature as Signature
from playground.signatures import XMLAdapter as XMLAdapter

__version__: str
_WHERE: dict[str, str]
_OF_PLUGINS: dict[str, str]

def load_ipython_extension(shell: Any) -> None: ...
def __getattr__(name: str) -> Any: ...
