// The public TypeScript client drives a command line: sdk_client.mjs NODE_MODULES CLI.  One line of JSON on standard
// output says what it saw.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, cli] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const { query, tool, createSdkMcpServer } = await load("@anthropic-ai/claude-agent-sdk");
const { z } = await load("zod");

const seen = { results: [], questions: [], calls: [], hooks: [] };
const text = (words) => ({ content: [{ type: "text", text: words }] });
const calc = createSdkMcpServer({
  name: "calc",
  version: "2.0.0",
  tools: [
    tool("add", "Adds two numbers", { a: z.number(), b: z.number() }, async ({ a, b }) => {
      seen.calls.push([a, b]);
      return text(`the sum is ${a + b}`);
    }),
    tool("fail", "Fails", {}, async () => ({ ...text("no luck"), isError: true })),
  ],
});

// Prompts that are given one after the other.
const waiting = [];
let wake = () => {};
let over = false;
async function* prompts() {
  while (!over || waiting.length) {
    if (!waiting.length) await new Promise((done) => (wake = done));
    while (waiting.length) {
      const message = { role: "user", content: waiting.shift() };
      yield { type: "user", message, parent_tool_use_id: null, session_id: "" };
    }
  }
}
const say = (words) => (waiting.push(words), wake());
const end = () => ((over = true), wake());

const session = query({
  prompt: prompts(),
  options: {
    pathToClaudeCodeExecutable: cli,
    mcpServers: { calc },
    includePartialMessages: true,
    systemPrompt: { type: "preset", preset: "claude_code", append: "In Latin." },
    agents: { tester: { description: "Runs tests", prompt: "You run tests." } },
    canUseTool: async (name, input) => {
      seen.questions.push(name);
      if (input.command === "touch two") return { behavior: "deny", message: "not two" };
      return { behavior: "allow", updatedInput: input };
    },
    hooks: {
      PostToolUse: [{ matcher: "Bash", hooks: [async (input) => (seen.hooks.push(input.tool_input.command), {})] }],
    },
  },
});

let interrupted = false;
const then = [
  async () => {
    seen.commands = (await session.supportedCommands()).map((c) => c.name);
    seen.agents = (await session.supportedAgents()).map((a) => a.name);
    seen.models = (await session.supportedModels()).length;
    seen.servers = await session.mcpServerStatus();
    seen.usage = (await session.getContextUsage()).totalTokens;
    say("take long");
  },
  async () => {
    seen.skills = (await session.reloadSkills()).skills.length;
    seen.styles = (await session.reloadOutputStyles()).available_output_styles;
    seen.unknown = await session.rewindFiles("u", { dryRun: true }).catch((error) => error.message);
    seen.seeded = await session.seedReadState("missing", 1).catch((error) => error.message);
    await session.setModel("haiku");
    await session.setPermissionMode("acceptEdits");
    await session.reconnectMcpServer("calc");
    await session.toggleMcpServer("calc", false);
    seen.off = (await session.mcpServerStatus()).map((s) => s.status);
    seen.refused = await session.reconnectMcpServer("other").catch((error) => error.message);
    say("go on");
  },
  async () => end(),
];

say("add and touch");
for await (const message of session) {
  if (message.type === "stream_event" && !interrupted && message.event.delta?.text?.includes("I begin")) {
    interrupted = true;
    await session.interrupt();
  }
  if (message.type === "result") {
    seen.results.push([message.subtype, message.is_error, message.result ?? null]);
    await then.shift()();
  }
}
console.log(JSON.stringify(seen));
