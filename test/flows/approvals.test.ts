import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import type { ReviewDecision } from "../../src/messages/tools/approval.js";
import type { WrittenConfig } from "../../src/config/files/written-config.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { beginsAndHangs, calls, callsAll, says, scripted, type Reply } from "../support/scripted-provider.js";

/** A tool with a side effect: it counts its calls. */
function counter() {
  const runs: string[] = [];
  const tool = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string() }),
    command: ({ what }, { cwd }) => ({ argv: ["effect", what], cwd }),
    run: ({ what }) => {
      runs.push(what);
      return `did ${what}`;
    },
  });
  return { runs, tool };
}

async function open(replies: Iterable<Reply>, config: WrittenConfig = {}) {
  const { runs, tool } = counter();
  const provider = scripted(replies);
  return { runs, tool, provider, ...(await openConversation({ provider, tools: [tool], config, cwd: "/projects" })) };
}

function lastOutput(provider: ReturnType<typeof scripted>): unknown {
  const item = provider.requests.at(-1)?.input.at(-1);
  return item?.type === "function_call_output" ? item.output : item;
}

test.each<{ config: WrittenConfig; asked: boolean; output: RegExp }>([
  { config: {}, asked: true, output: /^did it$/ },
  { config: { approvalPolicy: "untrusted" }, asked: true, output: /^did it$/ },
  { config: { approvalPolicy: "untrusted", sandbox: "danger-full-access" }, asked: true, output: /^did it$/ },
  { config: { approvalPolicy: "on-request", sandbox: "read-only" }, asked: true, output: /^did it$/ },
  { config: { approvalPolicy: "on-request", sandbox: "danger-full-access" }, asked: false, output: /^did it$/ },
  { config: { approvalPolicy: "on-failure" }, asked: true, output: /^did it$/ },
  { config: { approvalPolicy: "never" }, asked: false, output: /^effect was refused: the approval policy is never/ },
  { config: { approvalPolicy: "never", sandbox: "danger-full-access" }, asked: false, output: /^did it$/ },
])("with $config a change needs approval: $asked", async ({ config, asked, output }) => {
  const { conversation, events, provider } = await open([calls("effect", "c1", { what: "it" }), says("ok")], config);
  await conversation.submit("go");
  const first = await events.untilAny(["exec_approval_request", "task_complete"]);
  expect(first.type === "exec_approval_request").toBe(asked);
  if (first.type === "exec_approval_request") {
    await conversation.submit({ type: "exec_approval", id: first.approval_id, decision: "approved" });
    await events.until("task_complete");
  }
  expect(lastOutput(provider)).toMatch(output);
});

test("a released conversation leaves its request open, and whoever resumes it is asked again", async () => {
  const { conversation, conversationId, events, manager, runs } = await open([
    calls("effect", "c1", { what: "it" }),
    says("ok"),
  ]);
  await conversation.submit("go");
  const first = await events.until("exec_approval_request");
  expect(await conversation.release()).toBe(true);
  expect(await conversation.release()).toBe(true);
  await expect(conversation.submit("more")).rejects.toMatchObject({ code: "actor_stopped" });
  expect(manager.getConversation(conversationId)).toBeUndefined();
  const resumed = await manager.resumeConversation(conversationId);
  const log = new EventLog(resumed);
  expect(await log.until("exec_approval_request")).toMatchObject({ command: first.command });
  const [request] = resumed.pendingApprovals;
  await resumed.answerApproval(request?.approval_id ?? "", "approved");
  await log.until("task_complete");
  expect(runs).toEqual(["it"]);
});

test("a working conversation cannot be released", async () => {
  const { conversation, events } = await open([beginsAndHangs("…")]);
  await conversation.submit("go");
  await events.until("agent_message_delta");
  expect(await conversation.release()).toBe(false);
  expect(conversation.ending).toBeUndefined();
});

test("an approval request shows what will run, and the turn waits for the decision", async () => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" }), says("ok")]);
  await conversation.submit("go");
  const request = await events.until("exec_approval_request");
  expect(request).toEqual({
    type: "exec_approval_request",
    approval_id: expect.any(String),
    call_id: "c1",
    turn_id: conversation.turn?.turnId,
    tool: "effect",
    command: ["effect", "it"],
    cwd: "/projects",
    reason: "no sandbox: every command needs approval",
  });
  expect(conversation.turn?.status).toMatchObject({ status: "awaiting_approval", toolCall: { call_id: "c1" } });
  expect(runs).toEqual([]);
  await conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "approved" });
  await events.until("task_complete");
  expect(runs).toEqual(["it"]);
  const recorded = (await rolloutLines(conversation.rolloutPath)).filter(({ type }) => type === "cody");
  expect(recorded.map(({ payload }) => payload["type"])).toEqual(["approval_requested", "approval_decided"]);
});

test.each<{ decision: ReviewDecision; output: string }>([
  { decision: "denied", output: "effect was refused by the user" },
  { decision: { denied: { rejection: "use the other one" } }, output: "effect was refused: use the other one" },
  {
    decision: "timed_out",
    output: "effect was refused because the approval request timed out",
  },
])("after $decision the call does not run, and the model is told", async ({ decision, output }) => {
  const { conversation, events, runs, provider } = await open([calls("effect", "c1", { what: "it" }), says("ok")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision });
  await events.until("task_complete");
  expect(runs).toEqual([]);
  expect(lastOutput(provider)).toBe(output);
});

const changedTo = (args: Readonly<Record<string, unknown>>): ReviewDecision => ({
  approved_with_arguments: { arguments: args },
});

test("a decision may change the arguments: these run, the file names them before, and the model is told", async () => {
  const { conversation, events, runs, provider, tool } = await open([
    calls("effect", "c1", { what: "it" }),
    says("ok"),
    calls("effect", "c2", { what: "that" }),
  ]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision: changedTo({ what: "that" }) });
  await events.until("task_complete");
  expect(runs).toEqual(["that"]);
  expect(lastOutput(provider)).toBe('did that\n\n[approval] the arguments were changed to {"what":"that"}');
  const lines = await rolloutLines(conversation.rolloutPath);
  const decided = lines.findIndex(({ payload }) => payload["type"] === "approval_decided");
  expect(lines[decided]?.payload).toEqual({
    type: "approval_decided",
    approval_id: id,
    call_id: "c1",
    decision: "approved",
    arguments: { what: "that" },
  });
  const ran = lines.findIndex(({ payload }) => payload["type"] === "function_call_output");
  expect(ran).toBeGreaterThan(decided);
  const history = conversation.getHistory();
  expect(history).toContainEqual(expect.objectContaining({ call_id: "c1", arguments: '{"what":"it"}' }));

  const home = await copyAsAfterCrash(conversation);
  const { manager } = await openManager({ home, providers: [scripted([])], tools: [tool], cwd: "/projects" });
  expect((await manager.resumeConversation(conversation.id)).getHistory()).toEqual(history);

  await conversation.submit("and that, without a change");
  const again = await events.until("exec_approval_request");
  expect(again.command).toEqual(["effect", "that"]);
  await conversation.submit({ type: "exec_approval", id: again.approval_id, decision: "abort" });
});

test.each<{ args: Readonly<Record<string, unknown>>; output: RegExp }>([
  { args: { what: 5 }, output: /^effect was not run: the arguments that the approval has set for effect: what: / },
  { args: { what: "forbidden" }, output: /^effect was not run: forbidden here\n\n\[approval\] the arguments were/ },
])("changed arguments that are refused run nothing: $args", async ({ args, output }) => {
  const { tool, runs } = counter();
  const command: typeof tool.command = (given, scope) => {
    if (Object(given).what === "forbidden") throw new Error("forbidden here");
    return tool.command(given, scope);
  };
  const provider = scripted([calls("effect", "c1", { what: "it" }), says("ok")]);
  const { conversation, events } = await openConversation({ provider, tools: [{ ...tool, command }] });
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision: changedTo(args) });
  await events.until("task_complete");
  expect(runs).toEqual([]);
  expect(lastOutput(provider)).toMatch(output);
});

test.each([
  ["a function", { what: () => "it" }, "cannot be converted to JSON"],
  ["too many characters", { what: "x".repeat(1_000_001) }, "at most 1000000 characters"],
  ["too many levels", { what: JSON.parse("[".repeat(101) + "]".repeat(101)) }, "at most 100 levels"],
])("arguments with %s are no decision, and the request stays open", async (_what, args, problem) => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" }), says("ok")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await expect(conversation.submit({ type: "exec_approval", id, decision: changedTo(args) })).rejects.toThrow(problem);
  await conversation.submit({ type: "exec_approval", id, decision: "approved" });
  await events.until("task_complete");
  expect(runs).toEqual(["it"]);
});

test("a question of a running call has no arguments to change", async () => {
  const asking = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({}),
    run: async (_args, context) =>
      JSON.stringify(await context.ask?.({ argv: ["sure?"], cwd: context.cwd }, "to be sure")),
  });
  const provider = scripted([calls("effect", "c1", {}), says("ok")]);
  const { conversation, events } = await openConversation({ provider, tools: [asking] });
  await conversation.submit("go");
  const first = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id: first.approval_id, decision: "approved" });
  const { approval_id: id } = await events.until("exec_approval_request");
  const refused = conversation.submit({ type: "exec_approval", id, decision: changedTo({}) });
  await expect(refused).rejects.toThrow(`the question ${id} of a running call has no arguments`);
  await conversation.submit({ type: "exec_approval", id, decision: "approved" });
  await events.until("task_complete");
  expect(lastOutput(provider)).toBe('"approved"');
});

test("abort refuses the call and ends the turn", async () => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" })]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision: "abort" });
  await events.until("turn_aborted");
  expect(runs).toEqual([]);
});

test("an interrupt withdraws the open request, and a later decision is refused", async () => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" })]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.interrupt();
  await events.until("turn_aborted");
  const closed = `no open approval request ${id}`;
  await expect(conversation.submit({ type: "exec_approval", id, decision: "approved" })).rejects.toThrow(closed);
  expect(await events.until("error")).toMatchObject({ message: closed });
  expect(runs).toEqual([]);
});

test("a decision on an unknown request is rejected", async () => {
  const { conversation } = await open([]);
  const answer = { type: "patch_approval", approval_id: "nobody-asked", decision: "approved" } as const;
  await expect(conversation.submit(answer)).rejects.toMatchObject({
    name: "FailureError",
    code: "invalid_request",
    message: "no open approval request nobody-asked",
  });
});

test("a decision without a request id is refused with the name of the missing field", async () => {
  const { conversation } = await openConversation({ provider: scripted([]) });
  const answered = conversation.submit({ type: "exec_approval", decision: "approved" });
  await expect(answered).rejects.toThrow("approval_id: the id of the request is needed");
});

test("a request is answered by `approval_id`, as its event names it, or by `id`, as Codex names it", async () => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" }), says("ok")]);
  await conversation.submit("go");
  const { approval_id } = await events.until("exec_approval_request");
  const answer = { type: "exec_approval", decision: "approved" } as const;
  expect(await conversation.submit({ ...answer, approval_id })).toEqual(expect.any(String));
  await events.until("task_complete");
  expect(runs).toEqual(["it"]);
});

test("of two decisions the first counts, and the call runs once", async () => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" }), says("ok")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  const answers = await Promise.allSettled(
    (["approved", "denied", "approved"] as const).map((decision) =>
      conversation.submit({ type: "exec_approval", id, decision }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  await events.until("task_complete");
  expect(runs).toEqual(["it"]);
  expect(events.types().filter((type) => type === "error")).toHaveLength(2);
});

test("an approval for the session covers only this command in this folder and conversation", async () => {
  const { conversation, events, runs } = await open([
    callsAll(
      { name: "effect", callId: "a", arguments: '{"what":"it"}' },
      { name: "effect", callId: "b", arguments: '{"what":"it"}' },
      { name: "effect", callId: "c", arguments: '{"what":"it; and more"}' },
    ),
    says("ok"),
    calls("effect", "d", { what: "it" }),
    says("ok"),
    calls("effect", "e", { what: "it" }),
  ]);
  await conversation.submit("go");
  const first = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id: first.approval_id, decision: "approved_for_session" });
  const second = await events.until("exec_approval_request");
  expect(second.command).toEqual(["effect", "it; and more"]);
  await conversation.submit({ type: "exec_approval", id: second.approval_id, decision: "denied" });
  await events.until("task_complete");
  expect(runs).toEqual(["it", "it"]);

  await conversation.submit({ type: "override_turn_context", cwd: "/" });
  await conversation.submit("elsewhere");
  const third = await events.until("exec_approval_request");
  expect(third.cwd).toBe("/");
  await conversation.submit({ type: "exec_approval", id: third.approval_id, decision: "denied" });
  await events.until("task_complete");
});

test("an approval for one tool does not cover another tool that would run the same command", async () => {
  const { tool } = counter();
  const twin = { ...tool, name: "twin" };
  const provider = scripted([calls("effect", "a", { what: "it" }), calls("twin", "b", { what: "it" }), says("ok")]);
  const { conversation, events } = await openConversation({ provider, tools: [tool, twin] });
  await conversation.submit("go");
  const first = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id: first.approval_id, decision: "approved_for_session" });
  const second = await events.until("exec_approval_request");
  expect({ ...second, tool: first.tool }).toMatchObject({ command: first.command, tool: "effect" });
  expect(second.tool).toBe("twin");
  await conversation.submit({ type: "exec_approval", id: second.approval_id, decision: "abort" });
  await events.until("turn_aborted");
});

test("an unanswered request times out and the turn continues", async () => {
  const { conversation, events, runs } = await open([calls("effect", "c1", { what: "it" }), says("ok")], {
    turnLimits: { approvalSeconds: 0.02 },
  });
  await conversation.submit("go");
  await events.until("task_complete");
  expect(runs).toEqual([]);
  expect(conversation.getHistory()).toContainEqual({
    type: "function_call_output",
    call_id: "c1",
    output: "effect was refused because the approval request timed out",
    success: false,
  });
});

test("time spent waiting for a decision does not count towards the turn's time limit", async () => {
  const { tool, runs } = counter();
  const provider = scripted([calls("effect", "c1", { what: "it" }), [{ type: "hang" }], says("ok")]);
  const config: WrittenConfig = { turnLimits: { seconds: 0.5 } };
  const { manager, conversation, events } = await openConversation({ provider, tools: [tool], config });
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  // A turn that starts later and reaches its time limit proves that the first turn has waited longer than that.
  const { conversation: clock } = await manager.newConversation({ provider: "scripted", model: "scripted" });
  const working = new EventLog(clock);
  await clock.submit("hang");
  expect(await working.until("task_complete")).toHaveProperty("error");
  await conversation.submit({ type: "exec_approval", id, decision: "approved" });
  expect(await events.until("task_complete")).not.toHaveProperty("error");
  expect(runs).toEqual(["it"]);
});

test("a reader that fell far behind still gets the open request", async () => {
  const { conversation, events } = await open([calls("effect", "a", { what: "it" })]);
  const other = conversation.events({ since: 0 });
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  // The slow reader has read nothing; other events overflow its queue.
  for (let index = 0; index < 1_100; index++) {
    await conversation.submit({ type: "list_custom_prompts" });
    // Read events as they come: a second slow reader would wait for the events it has missed.
    await events.until("error");
  }
  const seen: string[] = [];
  for await (const { msg } of other) {
    if (msg.type === "lagged" || msg.type === "exec_approval_request") seen.push(msg.type);
    if (msg.type === "exec_approval_request") break;
  }
  expect(seen).toEqual(["lagged", "exec_approval_request"]);
  await conversation.submit({ type: "exec_approval", id, decision: "abort" });
});

test("an open request survives its process: it is asked again, answered once, and the turn continues", async () => {
  const before = await open([
    callsAll(
      { name: "effect", callId: "a", arguments: '{"what":"one"}' },
      { name: "effect", callId: "b", arguments: '{"what":"two"}' },
    ),
  ]);
  await before.conversation.submit("go");
  const asked = await before.events.until("exec_approval_request");
  const home = await copyAsAfterCrash(before.conversation);

  const { runs, tool } = counter();
  const provider = scripted([says("both done")]);
  const after = await openManager({ home, providers: [provider], tools: [tool], cwd: "/projects" });
  const resumed = await after.manager.resumeConversation(before.conversationId, { cwd: "/projects" });
  const events = new EventLog(resumed);
  expect(await events.until("exec_approval_request")).toEqual(asked);
  expect(resumed.openTurn).toEqual({ turnId: asked.turn_id });
  await resumed.submit({ type: "exec_approval", id: asked.approval_id, decision: "approved" });
  const second = await events.until("exec_approval_request");
  expect(second.command).toEqual(["effect", "two"]);
  const again = { type: "exec_approval", id: asked.approval_id, decision: "approved" } as const;
  await expect(resumed.submit(again)).rejects.toThrow("no open approval request");
  expect(await events.until("error")).toMatchObject({ message: expect.stringContaining("no open approval request") });
  await resumed.submit({ type: "exec_approval", id: second.approval_id, decision: "approved" });
  expect(await events.until("task_complete")).toMatchObject({
    turn_id: asked.turn_id,
    last_agent_message: "both done",
  });
  expect(runs).toEqual(["one", "two"]);
  const lines = await rolloutLines(resumed.rolloutPath);
  const ends = lines.filter(({ payload }) => payload["type"] === "task_complete" || payload["type"] === "turn_aborted");
  expect(ends).toHaveLength(1);
});

test("input submitted while an old request waits is played after that request's turn", async () => {
  const before = await open([calls("effect", "a", { what: "one" })]);
  await before.conversation.submit("go");
  await before.events.until("exec_approval_request");
  const home = await copyAsAfterCrash(before.conversation);

  const { runs, tool } = counter();
  const provider = scripted([says("not done"), says("hello")]);
  const { manager } = await openManager({ home, providers: [provider], tools: [tool], cwd: "/projects" });
  const resumed = await manager.resumeConversation(before.conversationId, { cwd: "/projects" });
  const events = new EventLog(resumed);
  await resumed.submit("hi");
  const { approval_id: id } = await events.until("exec_approval_request");
  await resumed.submit({ type: "exec_approval", id, decision: "denied" });
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "not done" });
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "hello" });
  expect(runs).toEqual([]);
});

test("a resumed turn is judged by the current configuration and asks for the call that will run", async () => {
  const before = await open([calls("effect", "a", { what: "one" })]);
  await before.conversation.submit("go");
  const asked = await before.events.until("exec_approval_request");
  const home = await copyAsAfterCrash(before.conversation);

  const { runs, tool } = counter();
  const provider = scripted([says("ok")]);
  const { manager } = await openManager({ home, providers: [provider], tools: [tool] });
  const resumed = await manager.resumeConversation(before.conversationId, { cwd: "/", approvalPolicy: "untrusted" });
  const events = new EventLog(resumed);
  const again = await events.until("exec_approval_request");
  expect(again).toMatchObject({ cwd: "/", call_id: "a" });
  expect(again.approval_id).not.toBe(asked.approval_id);
  const old = { type: "exec_approval", id: asked.approval_id, decision: "approved" } as const;
  await expect(resumed.submit(old)).rejects.toThrow("no open approval request");
  await events.until("error");
  await resumed.submit({ type: "exec_approval", id: again.approval_id, decision: "approved" });
  await events.until("task_complete");
  expect(runs).toEqual(["one"]);
});

test("a call approved before a crash has an unknown outcome, reported once, and never runs again", async () => {
  const started = new EventTarget();
  const hang = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string() }),
    run: () => {
      started.dispatchEvent(new Event("run"));
      return new Promise<string>(() => undefined);
    },
  });
  const provider = scripted([calls("effect", "a", { what: "one" })]);
  const before = await openConversation({ provider, tools: [hang] });
  const running = new Promise((resolve) => started.addEventListener("run", resolve));
  await before.conversation.submit("go");
  const { approval_id: id } = await before.events.until("exec_approval_request");
  await before.conversation.submit({ type: "exec_approval", id, decision: "approved" });
  await running;
  const home = await copyAsAfterCrash(before.conversation);

  const { runs, tool } = counter();
  for (const told of [1, 0]) {
    const next = scripted([says("ok")]);
    const { manager } = await openManager({ home, providers: [next], tools: [tool] });
    const resumed = await manager.resumeConversation(before.conversationId);
    const events = new EventLog(resumed);
    await resumed.submit("what happened?");
    await events.until("task_complete");
    const warnings = events.seen.filter(({ msg }) => msg.type === "warning").map(({ msg }) => msg);
    expect(warnings).toHaveLength(told);
    expect(next.requests[0]?.input).toContainEqual({
      type: "function_call_output",
      call_id: "a",
      output: "interrupted, result unknown",
    });
    await manager.shutdown();
  }
  expect(runs).toEqual([]);
});

test("a call approved with other arguments before a crash is reported with them", async () => {
  const started = new EventTarget();
  const hang = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string() }),
    run: () => {
      started.dispatchEvent(new Event("run"));
      return new Promise<string>(() => undefined);
    },
  });
  const before = await openConversation({
    provider: scripted([calls("effect", "a", { what: "one" })]),
    tools: [hang],
  });
  const running = new Promise((resolve) => started.addEventListener("run", resolve));
  await before.conversation.submit("go");
  const { approval_id: id } = await before.events.until("exec_approval_request");
  await before.conversation.submit({ type: "exec_approval", id, decision: changedTo({ what: "other" }) });
  await running;
  const home = await copyAsAfterCrash(before.conversation);

  const { runs, tool } = counter();
  const provider = scripted([says("ok")]);
  const { manager } = await openManager({ home, providers: [provider], tools: [tool] });
  const resumed = await manager.resumeConversation(before.conversationId);
  const events = new EventLog(resumed);
  await resumed.submit("what happened?");
  const changed = '[approval] the arguments were changed to {"what":"other"}';
  expect(await events.until("warning")).toMatchObject({ message: expect.stringContaining(changed) });
  await events.until("task_complete");
  const output = `interrupted, result unknown\n\n${changed}`;
  expect(provider.requests[0]?.input).toContainEqual({ type: "function_call_output", call_id: "a", output });
  expect(runs).toEqual([]);
});

test("on-failure is treated as on-request, with a warning", async () => {
  const { conversation, events } = await open([says("ok")], { approvalPolicy: "on-failure" });
  const notice = "The approval policy on-failure is deprecated; on-request is used instead.";
  expect(conversation.settings.approvalPolicy).toBe("on-request");
  expect(conversation.notice).toContain(notice);
  await conversation.submit({ type: "override_turn_context", approval_policy: "on-failure" });
  expect(await events.until("warning")).toEqual({ type: "warning", message: notice });
});

test("processMessage asks the given approver, and refuses calls when there is none", async () => {
  const { runs, tool } = counter();
  const replies = ["one", "two", "three"].flatMap((what) => [calls("effect", what, { what }), says("ok")]);
  const { manager } = await openManager({ providers: [scripted(replies)], tools: [tool] });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "scripted" });
  const outputs = async (options?: Parameters<typeof conversation.processMessage>[1]) =>
    (await conversation.processMessage("go", options)).flatMap((item) =>
      item.type === "function_call_output" ? [item.output] : [],
    );
  expect(await outputs()).toEqual([
    "effect was refused: it needs approval, and approvals are not available in this run",
  ]);
  expect(await outputs({ approve: ({ command }) => (command[1] === "two" ? "approved" : "denied") })).toEqual([
    "did two",
  ]);
  expect(await outputs({ approve: () => "denied" })).toEqual(["effect was refused by the user"]);
  expect(runs).toEqual(["two"]);
});

test.each([
  { name: "throws", approve: () => Promise.reject(new Error("no idea")), message: "no idea" },
  { name: "answers rubbish", approve: () => "maybe" as never, message: 'decision: must be one of "approved", ' },
])("an approve callback that $name stops the turn, and the next turn can start", async ({ approve, message }) => {
  const { conversation, runs } = await open([calls("effect", "a", { what: "it" }), says("ok")]);
  await expect(conversation.processMessage("go", { approve })).rejects.toThrow(message);
  expect(await conversation.processMessage("again")).toHaveLength(2);
  expect(runs).toEqual([]);
});

test("aborting at the last step is reported as an abort, not as a reached limit", async () => {
  const { conversation, events } = await open([calls("effect", "a", { what: "it" })], { turnLimits: { steps: 1 } });
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision: "abort" });
  expect((await events.untilAny(["turn_aborted", "task_complete"])).type).toBe("turn_aborted");
});

test("replaceHistory is refused while a turn runs", async () => {
  const { conversation, events } = await open([calls("effect", "a", { what: "it" }), says("ok")]);
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await expect(conversation.replaceHistory([])).rejects.toMatchObject({ code: "busy" });
  await conversation.submit({ type: "exec_approval", id, decision: "approved" });
  await events.until("task_complete");
  await conversation.replaceHistory([]);
  expect(conversation.getHistory()).toEqual([]);
});

test("a reader of all conversations that fell behind still gets the open request", async () => {
  const { manager, conversation, events } = await open([calls("effect", "a", { what: "it" })]);
  const all = manager.events();
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  for (let index = 0; index < 1_100; index++) {
    await conversation.submit({ type: "list_custom_prompts" });
    // Read events as they come: a second slow reader would wait for the events it has missed.
    await events.until("error");
  }
  const seen: string[] = [];
  for await (const { msg } of all) {
    if (msg.type === "lagged" || msg.type === "exec_approval_request") seen.push(msg.type);
    if (msg.type === "exec_approval_request") break;
  }
  expect(seen).toEqual(["lagged", "exec_approval_request"]);
  await conversation.submit({ type: "exec_approval", id, decision: "abort" });
});

test("the decision is on disk before the call runs, so it is not asked for again after a crash", async () => {
  const seen: string[] = [];
  const tool = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string() }),
    run: () => {
      // Read the file at once: a moment later everything would be there anyway.
      seen.push(readFileSync(conversation.rolloutPath ?? "", "utf8"));
      return "done";
    },
  });
  const provider = scripted([calls("effect", "c1", { what: "it" }), says("ok")]);
  const { conversation, events } = await openConversation({ provider, tools: [tool] });
  await conversation.submit("go");
  const { approval_id: id } = await events.until("exec_approval_request");
  await conversation.submit({ type: "exec_approval", id, decision: "approved" });
  await events.until("task_complete");
  expect(seen).toHaveLength(1);
  expect(seen[0]).toContain('"approval_decided"');
});
