import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import type { HookFunctions } from "../../src/actors/conversation/hooks/conversation-hooks.js";
import { setTrust } from "../../src/config/project/trust.js";
import type { Config } from "../../src/messages/settings/config.js";
import type { HookInput, HookOutput, HooksConfig } from "../../src/messages/hooks.js";
import { messageText } from "../../src/messages/response-item.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { isRunning } from "../tools/processes.js";
import { calls, callsAll, says, scripted, type Reply, type ScriptedProvider } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A tool with a side effect: it counts its calls. */
function counter(name = "effect") {
  const runs: unknown[] = [];
  const tool = defineTool({
    name,
    description: "",
    parameters: z.strictObject({ what: z.string(), path: z.string().optional() }),
    command: ({ what }, { cwd }) => ({ argv: [name, what], cwd }),
    run: ({ what }) => {
      runs.push(what);
      return `did ${what}`;
    },
  });
  return { runs, tool };
}

interface Opening {
  readonly hooks?: HooksConfig;
  readonly functions?: HookFunctions;
  readonly replies?: Iterable<Reply>;
  readonly config?: Config;
  readonly cwd?: string;
  readonly home?: string;
}

async function open({ hooks = {}, functions, replies, config, cwd, home }: Opening) {
  const { runs, tool } = counter();
  const provider = scripted(replies ?? [calls("effect", "c1", { what: "it" }), says("done")]);
  const opened = await openConversation({
    provider,
    tools: [tool],
    config: { sandbox: "danger-full-access", hooks, ...config },
    ...(functions && { hooks: functions }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(home === undefined ? {} : { home }),
    env: { PATH: process.env["PATH"], SECRET_TOKEN: "hidden" },
  });
  return { ...opened, runs, provider };
}

/** A hook that prints this as JSON. */
function prints(output: HookOutput): HooksConfig[keyof HooksConfig] {
  return commands(`cat > /dev/null; echo '${JSON.stringify(output)}'`);
}

function commands(...all: string[]): NonNullable<HooksConfig[keyof HooksConfig]> {
  return [{ hooks: all.map((command) => ({ type: "command", command })) }];
}

function lastOutput({ requests }: ScriptedProvider): unknown {
  const item = requests.at(-1)?.input.findLast(({ type }) => type === "function_call_output");
  return item?.type === "function_call_output" ? item.output : undefined;
}

function userMessages({ requests }: ScriptedProvider): string[] {
  return (requests.at(-1)?.input ?? []).flatMap((item) =>
    item.type === "message" && item.role === "user" ? [messageText(item)] : [],
  );
}

function warnings({ seen }: EventLog): string[] {
  return seen.flatMap(({ msg }) => (msg.type === "warning" ? [msg.message] : []));
}

async function play({ conversation, events }: Awaited<ReturnType<typeof open>>) {
  await conversation.submit("go");
  return await events.until("task_complete");
}

function byName(one: { hook_event_name: string }, other: { hook_event_name: string }): number {
  return one.hook_event_name < other.hook_event_name ? -1 : 1;
}

test("every event reaches its hooks with the fields of Claude Code on stdin", async () => {
  const cwd = await temporaryFolder();
  const append = `{ cat; echo; } >> "$CODY_PROJECT_DIR/seen"; test "$CLAUDE_PROJECT_DIR" = "$CODY_PROJECT_DIR"`;
  const opened = await open({
    cwd,
    config: { sandbox: { mode: "workspace-write" } },
    hooks: Object.fromEntries(
      [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "Notification",
        "PostToolUse",
        "Stop",
      ].map((event) => [event, commands(append)]),
    ),
  });
  const { conversation, events, manager } = opened;
  await conversation.submit("go");
  const { approval_id } = await events.until("exec_approval_request");
  await manager.answerApproval(approval_id, "approved");
  const { turn_id } = await events.until("task_complete");
  expect(warnings(events)).toEqual([]);
  const seen = (await readFile(join(cwd, "seen"), "utf8")).trim().split("\n");
  const common = {
    session_id: opened.conversationId.replace(/^conv_/, ""),
    transcript_path: conversation.rolloutPath,
    cwd,
    permission_mode: "on-request",
  };
  const tool = { tool_name: "effect", cody_tool_name: "effect", tool_input: { what: "it" }, tool_use_id: "c1" };
  const reason = "no sandbox: every command needs approval";
  const tool_response = { success: true, content: "did it" };
  const expected = [
    { hook_event_name: "SessionStart", source: "startup" },
    { hook_event_name: "UserPromptSubmit", prompt: "go" },
    { hook_event_name: "PreToolUse", ...tool },
    { hook_event_name: "PermissionRequest", ...tool, reason },
    { hook_event_name: "PostToolUse", ...tool, tool_response },
    { hook_event_name: "Stop", stop_hook_active: false, last_assistant_message: "done" },
    {
      hook_event_name: "Notification",
      notification_type: "permission_prompt",
      message: "cody needs your permission to use effect: effect it",
      approval_id,
    },
  ].map((input) => ({ ...common, ...input }));
  const inputs = seen.map((line) => JSON.parse(line) as HookInput);
  expect(inputs.toSorted(byName)).toEqual(expected.toSorted(byName));
  expect(turn_id).not.toBe("");
});

test("exit code 2 blocks a tool with stderr as the reason, and its environment is an allow list", async () => {
  const opened = await open({
    hooks: { PreToolUse: commands(`echo "no \${SECRET_TOKEN:-secrets} here" >&2; exit 2`) },
  });
  await play(opened);
  expect(opened.runs).toEqual([]);
  expect(lastOutput(opened.provider)).toBe("effect was not run: a hook blocked it: no secrets here");
});

test.each<{ what: string; output: HookOutput; runs: string[]; text: string }>([
  {
    what: "deny",
    output: { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "not on Friday" } },
    runs: [],
    text: "effect was not run: a hook blocked it: not on Friday",
  },
  {
    what: "an old block",
    output: { decision: "block", reason: "not on Friday" },
    runs: [],
    text: "effect was not run: a hook blocked it: not on Friday",
  },
  {
    what: "changed arguments",
    output: { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { what: "that" } } },
    runs: ["that"],
    text: 'did that\n\n[PreToolUse hook] the arguments were changed to {"what":"that"}',
  },
  {
    what: "invalid arguments",
    output: { hookSpecificOutput: { updatedInput: { what: 5 } } },
    runs: [],
    text: expect.stringMatching(/^effect was not run: the arguments that a hook has set for effect: what: /) as string,
  },
  {
    what: "context",
    output: { hookSpecificOutput: { additionalContext: "mind the gap" } },
    runs: ["it"],
    text: "did it\n\n[PreToolUse hook] mind the gap",
  },
  {
    what: "an output for another event",
    output: { hookSpecificOutput: { hookEventName: "PostToolUse", permissionDecision: "deny" } },
    runs: ["it"],
    text: "did it",
  },
])("a hook before a tool may answer with $what", async ({ output, runs, text }) => {
  const opened = await open({ hooks: { PreToolUse: prints(output) } });
  await play(opened);
  expect(opened.runs).toEqual(runs);
  expect(lastOutput(opened.provider)).toEqual(text);
});

test("a hook that asks makes the approval show the arguments that it has changed", async () => {
  const opened = await open({
    hooks: {
      PreToolUse: prints({
        hookSpecificOutput: {
          permissionDecision: "ask",
          permissionDecisionReason: "sure?",
          updatedInput: { what: "that" },
        },
      }),
    },
  });
  await opened.conversation.submit("go");
  const request = await opened.events.until("exec_approval_request");
  const { approval_id } = request;
  expect(request).toMatchObject({ command: ["effect", "that"], arguments: { what: "that" }, reason: "sure?" });
  await opened.manager.answerApproval(approval_id, "approved");
  await opened.events.until("task_complete");
  expect(opened.runs).toEqual(["that"]);
});

const allows = { hookSpecificOutput: { permissionDecision: "allow" as const } };

test("a hook that allows answers the question of the policy, but overrides no refusal", async () => {
  const asking = await open({
    hooks: { PreToolUse: prints(allows) },
    config: { sandbox: { mode: "workspace-write" } },
  });
  await play(asking);
  expect(asking.runs).toEqual(["it"]);
  const refusing = await open({
    hooks: { PreToolUse: prints(allows) },
    config: { sandbox: { mode: "workspace-write" }, approvalPolicy: "never" },
  });
  await play(refusing);
  expect(refusing.runs).toEqual([]);
  expect(lastOutput(refusing.provider)).toMatch(/^effect was refused: the approval policy is never/);
});

test.each(["PreToolUse", "PermissionRequest"] as const)(
  "no %s hook allows a change of a protected file",
  async (event) => {
    const decision = { behavior: "allow" as const };
    const opened = await open({
      hooks: { [event]: prints({ hookSpecificOutput: { ...allows.hookSpecificOutput, decision } }) },
      config: { sandbox: { mode: "workspace-write" } },
      replies: [calls("effect", "c1", { what: "it", path: "sub/.git/hooks/pre-commit" }), says("done")],
    });
    await opened.conversation.submit("go");
    const { approval_id } = await opened.events.until("exec_approval_request");
    await opened.manager.answerApproval(approval_id, "denied");
    await opened.events.until("task_complete");
    expect(opened.runs).toEqual([]);
  },
);

function say(permissionDecision: "allow" | "ask" | "deny"): string {
  return `echo '${JSON.stringify({ hookSpecificOutput: { permissionDecision, permissionDecisionReason: permissionDecision } })}'`;
}

test("of several hooks a deny wins over an ask, and an ask over an allow", async () => {
  const denied = await open({ hooks: { PreToolUse: commands(say("allow"), say("ask"), say("deny")) } });
  await play(denied);
  expect(lastOutput(denied.provider)).toBe("effect was not run: a hook blocked it: deny");
  const asked = await open({ hooks: { PreToolUse: commands(say("allow"), say("ask")) } });
  await asked.conversation.submit("go");
  expect(await asked.events.until("exec_approval_request")).toMatchObject({ reason: "ask" });
});

test.each<{
  answer: NonNullable<NonNullable<HookOutput["hookSpecificOutput"]>["decision"]>;
  runs: string[];
  text: string;
}>([
  { answer: { behavior: "allow" }, runs: ["it"], text: "did it" },
  { answer: { behavior: "deny", message: "ask me tomorrow" }, runs: [], text: "effect was refused: ask me tomorrow" },
])("a hook answers an approval request with $answer.behavior, which is recorded", async ({ answer, runs, text }) => {
  const opened = await open({
    hooks: {
      PermissionRequest: prints({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: answer } }),
    },
    config: { sandbox: { mode: "workspace-write" } },
  });
  await play(opened);
  expect(opened.runs).toEqual(runs);
  expect(lastOutput(opened.provider)).toBe(text);
  expect(opened.events.types()).not.toContain("exec_approval_request");
  const recorded = await readFile(opened.conversation.rolloutPath ?? "", "utf8");
  expect(recorded).toContain('"approval_requested"');
  expect(recorded).toContain('"approval_decided"');
});

test("hooks after a tool add text to its output, and can end the turn", async () => {
  const adding = await open({
    hooks: {
      PostToolUse: [
        ...commands("echo formatted >&2; exit 2"),
        ...(prints({ hookSpecificOutput: { additionalContext: "run the tests" } }) ?? []),
      ],
    },
  });
  await play(adding);
  expect(lastOutput(adding.provider)).toBe(
    "did it\n\n[PostToolUse hook] formatted\n\n[PostToolUse hook] run the tests",
  );
  const ending = await open({ hooks: { PostToolUse: prints({ continue: false, stopReason: "enough" }) } });
  expect(await play(ending)).toMatchObject({
    error: { message: "the turn was stopped by a hook: enough", codex_error_info: "aborted" },
  });
  expect(ending.runs).toEqual(["it"]);
  expect(ending.provider.requests).toHaveLength(1);
});

test("hooks at the start of a turn add context, and may block the message, which is not kept", async () => {
  const adding = await open({
    hooks: {
      SessionStart: prints({ hookSpecificOutput: { additionalContext: "the branch is main" } }),
      UserPromptSubmit: commands("cat > /dev/null; echo the time is 12:00"),
    },
    replies: [says("one"), says("two")],
  });
  await play(adding);
  const [hookText, timeText] = ["the branch is main", "the time is 12:00"].map(
    (text) => `<hook_prompt>\n${text}\n</hook_prompt>`,
  );
  expect(userMessages(adding.provider)).toEqual(["go", hookText, timeText]);
  await play(adding);
  expect(userMessages(adding.provider).filter((text) => text === hookText)).toHaveLength(1);

  const blocking = await open({ hooks: { UserPromptSubmit: commands("echo no passwords >&2; exit 2") } });
  const message = "the message was not sent, because a hook blocked it: no passwords";
  expect(await play(blocking)).toMatchObject({ error: { message } });
  expect(blocking.provider.requests).toEqual([]);
  expect(await readFile(blocking.conversation.rolloutPath ?? "", "utf8")).not.toContain('"go"');
});

test("a hook at the end of a turn makes the model continue, and knows that it has done so", async () => {
  const once = `case "$(cat)" in *'"stop_hook_active":true'*) ;; *) echo run the tests >&2; exit 2;; esac`;
  const opened = await open({ hooks: { Stop: commands(once) }, replies: [says("done"), says("tested")] });
  expect(await play(opened)).toMatchObject({ last_agent_message: "tested" });
  expect(userMessages(opened.provider)).toEqual(["go", "<hook_prompt>\nrun the tests\n</hook_prompt>"]);
});

test("a hook that always blocks the end of a turn is ignored in the end", async () => {
  const replies = Array.from({ length: 11 }, (_, index) => says(String(index)));
  const opened = await open({ hooks: { Stop: commands("echo more >&2; exit 2") }, replies });
  expect(await play(opened)).toMatchObject({ last_agent_message: "10" });
  expect(warnings(opened.events)).toEqual([expect.stringContaining("it has done so 10 times in this turn")]);
});

test("a hook before a compaction blocks it", async () => {
  const only = `grep -q '"trigger":"manual","custom_instructions":"briefly"' && { echo not now >&2; exit 2; }`;
  const opened = await open({ hooks: { PreCompact: commands(only) }, replies: [says("one")] });
  await play(opened);
  expect(await opened.conversation.compact({ instructions: "briefly" })).toEqual({
    status: "kept",
    reason: "a hook blocked the compaction: not now",
  });
});

test.each<{ what: string; command: string; timeout?: number; warning: RegExp }>([
  {
    what: "fails",
    command: "echo oh >&2; exit 1",
    warning: /^A PreToolUse hook failed with exit code 1: oh, so it had no effect: echo oh/,
  },
  { what: "does not exist", command: "/nowhere/hook", warning: /failed with exit code 127: .*not found/ },
  {
    what: "hangs",
    command: "sleep 60 & sleep 60",
    timeout: 0.2,
    warning: /did not end within 0.2 seconds and was ended/,
  },
  { what: "prints too much", command: "yes", warning: /wrote more than 1048576 bytes and was ended/ },
  { what: "prints invalid JSON", command: "echo '{oops'", warning: /wrote invalid JSON/ },
  {
    what: "prints an unknown decision",
    command: `echo '{"hookSpecificOutput":{"permissionDecision":"perhaps"}}'`,
    warning: /wrote JSON with an invalid hookSpecificOutput.permissionDecision/,
  },
])("a hook that $what causes a warning, and the call runs", async ({ command, timeout, warning }) => {
  const hook = { type: "command" as const, command, ...(timeout === undefined ? {} : { timeout }) };
  const opened = await open({ hooks: { PreToolUse: [{ hooks: [hook] }] } });
  await play(opened);
  expect(opened.runs).toEqual(["it"]);
  expect(warnings(opened.events)).toEqual([expect.stringMatching(warning)]);
});

test("a hook that hangs is killed with its processes when the turn is interrupted, and others go on meanwhile", async () => {
  const cwd = await temporaryFolder();
  const opened = await open({
    cwd,
    hooks: { PreToolUse: commands(`sleep 1000 & echo $! > pid.tmp; mv pid.tmp pid; wait`) },
  });
  const { conversation, events, manager } = opened;
  await conversation.submit("go");
  await events.until("raw_response_item");
  // Another conversation of the same thread plays a whole turn while the hook hangs.
  const { conversation: other } = await manager.newConversation({ provider: "offline" });
  let pid = 0;
  while (pid === 0) {
    await other.processMessage("hello");
    pid = Number(await readFile(join(cwd, "pid"), "utf8").catch(() => "0"));
  }
  expect(isRunning(pid)).toBe(true);
  await conversation.interrupt();
  await events.until("turn_aborted");
  await conversation.shutdown();
  expect(isRunning(pid)).toBe(false);
  expect(opened.runs).toEqual([]);
});

test.each([
  { matcher: "Bash", tool: "shell", matched: true },
  { matcher: "Edit|Write", tool: "apply_patch", matched: true },
  { matcher: "shell", tool: "shell", matched: true },
  { matcher: "mcp__files__*", tool: "mcp__files__read", matched: true },
  { matcher: "mcp__.*__write.*", tool: "mcp__files__write_it", matched: true },
  { matcher: "Bas", tool: "shell", matched: false },
  { matcher: "bash", tool: "shell", matched: false },
  { matcher: "", tool: "shell", matched: true },
  { matcher: "*", tool: "shell", matched: true },
])("the matcher $matcher and the tool $tool: $matched", async ({ matcher, tool: name, matched }) => {
  const { runs, tool } = counter(name);
  const provider = scripted([calls(name, "c1", { what: "it" }), says("done")]);
  const blocks = { type: "command" as const, command: "exit 2" };
  const { conversation, events } = await openConversation({
    provider,
    tools: [tool],
    config: { sandbox: "danger-full-access", hooks: { PreToolUse: [{ matcher, hooks: [blocks] }] } },
  });
  await conversation.submit("go");
  await events.until("task_complete");
  expect(runs).toEqual(matched ? [] : ["it"]);
});

test("hooks see a command, and files, under the names and fields of Claude Code, and change them so", async () => {
  const cwd = await temporaryFolder();
  const seen: unknown[] = [];
  const functions: HookFunctions = {
    PreToolUse: [
      {
        hooks: [
          (input) => {
            if (input.hook_event_name !== "PreToolUse") return undefined;
            const { tool_name, tool_input } = input;
            seen.push({ tool_name, tool_input });
            if (tool_name !== "Write") return undefined;
            const updatedInput = { ...tool_input, file_path: join(cwd, "other.txt") };
            return { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput } };
          },
        ],
      },
    ],
  };
  const replies = [
    callsAll(
      { name: "shell", callId: "a", arguments: JSON.stringify({ command: ["echo", "a b"] }) },
      { name: "write_file", callId: "b", arguments: JSON.stringify({ path: "one.txt", content: "text" }) },
    ),
    says("done"),
  ];
  const opened = await open({ cwd, functions, replies });
  await play(opened);
  expect(seen).toEqual([
    { tool_name: "Bash", tool_input: { command: "echo 'a b'" } },
    { tool_name: "Write", tool_input: { file_path: join(cwd, "one.txt"), content: "text" } },
  ]);
  expect(existsSync(join(cwd, "one.txt"))).toBe(false);
  expect(await readFile(join(cwd, "other.txt"), "utf8")).toBe("text");
});

function breaks(): never {
  throw new Error("oh no");
}

test("a function that throws causes a warning, and one that returns something else too", async () => {
  const opened = await open({
    functions: {
      PreToolUse: [
        {
          matcher: "effect",
          hooks: [breaks, (() => ({ continue: "perhaps" })) as unknown as () => HookOutput],
        },
      ],
    },
  });
  await play(opened);
  expect(opened.runs).toEqual(["it"]);
  expect(warnings(opened.events)).toEqual([
    "A PreToolUse hook failed: oh no, so it had no effect: breaks",
    expect.stringContaining("returned something else than a hook's output"),
  ]);
});

test("a message of a hook to the user is a warning, and equal commands run once", async () => {
  const opened = await open({
    hooks: {
      Stop: [...(prints({ systemMessage: "well done" }) ?? []), ...(prints({ systemMessage: "well done" }) ?? [])],
    },
  });
  await play(opened);
  expect(warnings(opened.events)).toEqual(["well done"]);
});

async function projectWith(config: object): Promise<string> {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, ".cody"));
  await writeFile(join(cwd, ".cody", "config.json"), JSON.stringify(config));
  return cwd;
}

test("hooks of a project run only once it is trusted, and not after they have changed", async () => {
  const home = await temporaryFolder();
  const cwd = await projectWith({ hooks: { PreToolUse: commands("echo ours >&2; exit 2") } });
  const playIn = async () => {
    const opened = await open({ home, cwd });
    await play(opened);
    const { notice } = opened.conversation;
    await opened.manager.shutdown();
    return { runs: opened.runs, notice };
  };
  const root = cwd;
  expect(await playIn()).toEqual({
    runs: ["it"],
    notice: `This project's hooks (PreToolUse) are not run, because the project is not trusted. See: cody hooks list. To trust it: cody trust ${root}`,
  });
  await setTrust(home, root, "trusted");
  expect(await playIn()).toEqual({ runs: [], notice: undefined });
  await writeFile(
    join(cwd, ".cody", "config.json"),
    JSON.stringify({ model: "other", hooks: { PreToolUse: commands("exit 2") } }),
  );
  expect(await playIn()).toEqual({
    runs: ["it"],
    notice: `This project's hooks (PreToolUse) are not run, because you have not trusted them as they are now. See: cody hooks list. To trust them: cody trust ${root}`,
  });
  await setTrust(home, root, "trusted");
  expect(await playIn()).toEqual({ runs: [], notice: undefined });
  await setTrust(home, root, "untrusted");
  expect(await playIn()).toEqual({ runs: ["it"], notice: undefined });
});

test("hooks run in the threads that host conversations, and functions come from the setup module", async () => {
  const folder = await temporaryFolder();
  const setup = join(folder, "setup.mjs");
  await writeFile(
    setup,
    `export const hooks = { UserPromptSubmit: [{ hooks: [() => ({ decision: "block", reason: "from the module" })] }] };`,
  );
  const { manager } = await openManager({
    threads: 1,
    setup: new URL(`file://${setup}`),
    config: { hooks: { UserPromptSubmit: commands("echo from the command >&2; exit 2") } },
  });
  const { conversation } = await manager.newConversation({ provider: "offline" });
  await conversation.submit("go");
  const { error } = await new EventLog(conversation).until("task_complete");
  expect(error?.message).toBe("the message was not sent, because a hook blocked it: from the command");
});
