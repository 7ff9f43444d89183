"""Clients that read a reply themselves, without losing of it what is not declared here."""

from typing import Final

from playground.servers.view import Server, Suite, View

_CONTINUE_SUITE: Final = Suite(
    "typescript",
    """\
// core/tools/systemMessageTools/toolCodeblocks/
import { expect, it } from "vitest";
import { SystemMessageToolCodeblocksFramework } from ".";
import { interceptSystemToolCalls } from "../interceptSystemToolCalls";

it("loses nothing of a reply", async () => {
  async function* reply(): AsyncGenerator<any> {
    yield [{ role: "assistant", content: {{text}} }];
    return undefined;
  }
  const codeblocks = new SystemMessageToolCodeblocksFramework();
  const read = interceptSystemToolCalls(reply(), new AbortController(), codeblocks);
  const calls: { name: string; arguments: string }[] = [];
  let content = "";
  for await (const messages of read) {
    for (const message of messages as any[]) {
      for (const part of message.content || []) {
        content += part.text ?? part;
      }
      for (const { function: given } of message.toolCalls ?? []) {
        if (given.name) {
          calls.push({ name: given.name, arguments: "" });
        }
        calls[calls.length - 1].arguments += given.arguments ?? "";
      }
    }
  }
  const said = calls.map((each) => ({ ...each, arguments: JSON.parse(each.arguments || "{}") }));
  expect(said).toEqual({{calls}});
  expect(content.trim()).toEqual({{content}});
});
""",
)
_KODU_SUITE: Final = Suite(
    "typescript",
    """\
// extension/src/agent/v1/tools/tool-parser/
import { z } from "zod"
import ToolParser from "./tool-parser"

test("nothing of a reply is lost", () => {
	const tools: any[] = {{tools}}
	const schemas = tools.map(({ function: { name, parameters } }) => {
		const keys = Object.keys(parameters.properties ?? {})
		return { name, schema: z.object(Object.fromEntries(keys.map((key) => [key, z.any()]))) }
	})
	const calls: any[] = []
	const onToolEnd = async (_id: string, name: string, given: any) => {
		calls.push({ name, arguments: given })
	}
	const parser = new ToolParser(schemas, { onToolEnd }, true)
	const content = parser.appendText({{text}})
	parser.endParsing()
	expect(calls).toEqual({{calls}})
	expect(content.trim()).toEqual({{content}})
})
""",
)
_SMOLAGENTS_SUITE: Final = Suite(
    "python",
    """\
# tests/
from smolagents import CodeAgent
from smolagents.models import ChatMessage, MessageRole, Model


class OneReply(Model):
    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content={{text}})


def test_nothing_of_a_reply_is_lost():
    agent = CodeAgent(tools=[], model=OneReply(), max_steps=1)
    agent.run("Reply.")
    steps = [step for step in agent.memory.steps if getattr(step, "model_output", None)]
    called = [call for step in steps for call in step.tool_calls or []]
    assert [call.arguments.strip() for call in called] == [
        call["arguments"]["code"].strip() for call in {{calls}}
    ]
    assert all(line in steps[0].model_output for line in {{content}}.splitlines())
""",
)

SERVERS: Final = (
    Server(
        "gptme",
        "d27f98d",
        View(
            source="gptme d27f98d gptme/tools/base.py:949-1026, ToolUse.iter_from_content: calls"
            " are looked up in a message, which stays as it is; one that is cut off or no object is"
            " passed over",
            cut="text",
            broken="text",
            unread="text",
        ),
        also=("gptme-tool", "gptme-xml", "anthropic-invoke"),
    ),
    Server(
        "roo",
        "0e110a2",
        View(
            source="Roo-Code 0e110a2 src/core/assistant-message/parseAssistantMessage.ts:32-40: all"
            " values but `content` are trimmed; at the end an open call is handed over as partial",
            trimmed=True,
            verbatim=("content",),
        ),
    ),
    Server(
        "langchain",
        "",
        View(
            source="langchain libs/langchain/langchain/agents/output_parsers: a parser answers with"
            " an action or a final answer alone; the thought goes to its log",
            reasoning="dropped",
            before="dropped",
            between="dropped",
            after="dropped",
        ),
    ),
    Server(
        "continue",
        "2e544fe",
        View(
            source="continue 2e544fe core/tools/systemMessageTools/interceptSystemToolCalls.ts"
            ":31-42 (at the end of the stream an open call's arguments are closed), 70-84 (what may"
            " begin a call is held). Until c8886c2 everything behind the first call was left out",
            partial="dropped",
            cut="call",
        ),
        suite=_CONTINUE_SUITE,
    ),
    Server(
        "aider",
        "",
        View(
            source="aider 5dc9490 aider/coders/editblock_coder.py, find_original_update_blocks: it"
            " yields edits, and nothing of what stands around them",
            before="dropped",
            between="dropped",
            after="dropped",
        ),
    ),
    Server(
        "kodu",
        "78a56b1",
        View(
            source="claude-coder 78a56b1 extension/src/agent/v1/tools/tool-parser/tool-parser.ts:"
            " 124-151 (a tag that never ends is held), 232-255 (tags of no tool are text), 402-430"
            " (a call that is not of its schema, or cut off, is an error)",
            partial="open tag dropped",
            cut="dropped",
            broken="dropped",
            unread="dropped",
            unknown="text",
        ),
        suite=_KODU_SUITE,
    ),
    Server(
        "openhands",
        "6bc3047",
        View(
            source="OpenHands 6bc3047 openhands/llm/fn_call_converter.py,"
            " convert_non_fncall_messages_to_fncall_messages: content is what stands before the"
            " first `<function=`; _fix_stopword closes a call that the end cut off",
            between="dropped",
            after="dropped",
        ),
    ),
    Server(
        "smolagents",
        "e3a5b89",
        View(
            source="smolagents e3a5b89 src/smolagents/agents.py:1690-1708: the closer is added"
            " where a reply ends without it; utils.py:189-216: code alone is run, what stands"
            " around it stays in the step's model_output",
            cut="open call",
        ),
        suite=_SMOLAGENTS_SUITE,
    ),
    Server(
        "cline",
        "07db3c8",
        View(
            source="cline 07db3c8 src/core/assistant-message/parseAssistantMessage.ts: every value"
            " is trimmed",
            trimmed=True,
        ),
    ),
)
