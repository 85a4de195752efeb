import { appendFile, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as z from "zod";
import type { ConversationManager } from "../../src/manager.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, says, scripted, type Reply } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

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

/** A conversation whose turn waits for an approval. */
async function asked(replies: Iterable<Reply> = [calls("effect", "c1", { what: "it" }), says("done")]) {
  const { runs, tool } = counter();
  const opened = await openConversation({ provider: scripted(replies), tools: [tool], idleAfter: Infinity });
  await opened.conversation.submit("go");
  const request = await opened.events.until("exec_approval_request");
  return { ...opened, runs, request, id: request.approval_id };
}

/** Another process that starts after the first was killed while its turn waited. */
async function afterCrash({ conversation, cwd }: Awaited<ReturnType<typeof asked>>) {
  const home = await copyAsAfterCrash(conversation);
  return { home, ...(await managerOf(home, cwd)) };
}

async function managerOf(home: string, cwd: string) {
  const { runs, tool } = counter();
  const provider = scripted([says("done")]);
  const { manager } = await openManager({ home, providers: [provider], tools: [tool], cwd });
  return { manager, runs };
}

/** The states of the requests that a manager lists. */
async function states(manager: ConversationManager): Promise<string[]> {
  return (await manager.listApprovals()).map(({ state }) => state);
}

test("a request is listed and answered by its id while its conversation is awake and while it sleeps", async () => {
  const { manager, conversation, conversationId, events, runs, request, id, cwd } = await asked();
  const listed = {
    approvalId: id,
    conversationId,
    callId: "c1",
    turnId: request.turn_id,
    tool: "effect",
    command: ["effect", "it"],
    cwd,
    reason: request.reason,
    requestedAt: expect.stringMatching(/^\d{4}-/),
  };
  expect(await manager.listApprovals()).toEqual([{ ...listed, state: "awake" }]);
  expect(await manager.listApprovals({ cwd: "/elsewhere" })).toEqual([]);
  expect(await conversation.sleep()).toBe(true);
  expect(await manager.listApprovals()).toEqual([{ ...listed, state: "asleep" }]);
  expect(await manager.getApproval(id)).toEqual({ ...listed, state: "asleep" });
  expect(await manager.answerApproval(id, "approved")).toEqual({ conversationId, status: "applied", conversation });
  await events.until("task_complete");
  expect(runs).toEqual(["it"]);
  expect(await manager.listApprovals()).toEqual([]);
});

test("changed arguments that are recorded for a closed conversation run when it is resumed, without a secret", async () => {
  const before = await asked();
  const { home, manager } = await afterCrash(before);
  const decision = { approved_with_arguments: { arguments: { what: "that" } } };
  expect(await manager.answerApproval(before.id, decision, { resume: false })).toMatchObject({ status: "recorded" });
  await manager.shutdown();
  const after = await managerOf(home, before.cwd);
  const resumed = await after.manager.resumeConversation(before.conversationId);
  await new EventLog(resumed).until("task_complete");
  expect(after.runs).toEqual(["that"]);
  expect(JSON.stringify(resumed.getHistory())).toContain("the arguments were changed to");

  const other = await afterCrash(before);
  const what = "password=hunter2x";
  const secret = { approved_with_arguments: { arguments: { what } } };
  await other.manager.answerApproval(before.id, secret, { resume: false });
  await other.manager.shutdown();
  const last = await managerOf(other.home, before.cwd);
  const reopened = await last.manager.resumeConversation(before.conversationId);
  await new EventLog(reopened).until("task_complete");
  expect(last.runs).toEqual([]);
  expect(JSON.stringify(reopened.getHistory())).toContain("a secret in its arguments was not written to disk");
});

test("after a restart, an answer resumes the conversation and the call runs once", async () => {
  const before = await asked();
  const { manager, runs } = await afterCrash(before);
  expect(await states(manager)).toEqual(["saved"]);
  const { status, conversation } = await manager.answerApproval(before.id, "approved");
  expect(status).toBe("applied");
  if (conversation === undefined) throw new Error("the conversation was not resumed");
  await new EventLog(conversation).until("task_complete");
  expect(runs).toEqual(["it"]);
  expect(await manager.listApprovals()).toEqual([]);
});

test("an answer can be recorded without resuming, and the next resume applies it once", async () => {
  const before = await asked();
  const { manager, runs, home } = await afterCrash(before);
  const recorded = await manager.answerApproval(before.id, "approved", { resume: false });
  expect(recorded).toEqual({ conversationId: before.conversationId, status: "recorded" });
  expect(await manager.listApprovals()).toMatchObject([{ approvalId: before.id, state: "saved", answer: "approved" }]);
  expect(runs).toEqual([]);
  await manager.shutdown();

  const { manager: later, runs: laterRuns } = await managerOf(home, before.cwd);
  const conversation = await later.resumeConversation(before.conversationId, { cwd: "recorded" });
  await new EventLog(conversation).until("task_complete");
  expect(laterRuns).toEqual(["it"]);
  const records = (await rolloutLines(conversation.rolloutPath)).filter(({ type }) => type === "cody");
  expect(records.map(({ payload }) => payload["type"])).toEqual([
    "approval_requested",
    "approval_answered",
    "approval_decided",
  ]);
});

test("one of several answers at once counts, and the others are refused", async () => {
  const { manager, events, runs, id } = await asked();
  const answers = await Promise.allSettled([
    manager.answerApproval(id, "approved"),
    manager.answerApproval(id, { denied: { rejection: "no" } }),
    manager.answerApproval(id, "approved"),
  ]);
  const counted = answers.findIndex(({ status }) => status === "fulfilled");
  const refused = answers.filter((answer) => answer.status === "rejected");
  expect(refused).toHaveLength(2);
  for (const { reason } of refused) expect(String(reason)).toContain(`no open approval request ${id}`);
  await events.until("task_complete");
  expect(runs).toEqual(counted === 1 ? [] : ["it"]);
});

test("the first of two recorded answers counts, and the second is refused", async () => {
  const before = await asked();
  const { manager, home } = await afterCrash(before);
  await manager.answerApproval(before.id, "denied", { resume: false });
  const { manager: other } = await managerOf(home, before.cwd);
  for (const each of [manager, other]) {
    for (const resume of [true, false]) {
      await expect(each.answerApproval(before.id, "approved", { resume })).rejects.toMatchObject({
        code: "invalid_request",
        message: `no open approval request ${before.id}: it was answered before, and the answer waits to be applied`,
      });
    }
  }
});

test("an answer is refused when the command has changed since", async () => {
  const before = await asked();
  const { manager, runs } = await afterCrash(before);
  const elsewhere = await temporaryFolder();
  const answer = manager.answerApproval(before.id, "approved", { config: { cwd: elsewhere } });
  await expect(answer).rejects.toThrow(
    /no open approval request .* the command has changed since; the request for the new one is/,
  );
  const [changed] = await manager.listApprovals();
  expect(changed).toMatchObject({ cwd: elsewhere, callId: "c1", state: "awake" });
  await manager.answerApproval(changed?.approvalId ?? "", "approved");
  const resumed = manager.getConversation(before.conversationId);
  if (resumed === undefined) throw new Error("the conversation is not open");
  await new EventLog(resumed).until("task_complete");
  expect(runs).toEqual(["it"]);
});

test("an answer is refused while another manager has the conversation open", async () => {
  const before = await asked();
  const { manager } = await managerOf(before.home, before.cwd);
  for (const resume of [true, false]) {
    await expect(manager.answerApproval(before.id, "approved", { resume })).rejects.toMatchObject({
      name: "ConversationInUseError",
    });
  }
  await before.manager.answerApproval(before.id, "approved");
  await before.events.until("task_complete");
  expect(before.runs).toEqual(["it"]);
});

test("an unknown id, a request that was answered and one whose turn has ended are refused", async () => {
  const { manager, conversation, events, id } = await asked();
  await expect(manager.answerApproval("unknown", "approved")).rejects.toThrow("no open approval request unknown");
  await conversation.interrupt();
  await events.until("turn_aborted");
  await expect(manager.answerApproval(id, "approved")).rejects.toMatchObject({ code: "invalid_request" });
  await expect(manager.answerApproval(id, "perhaps" as "approved")).rejects.toThrow("decision");
});

test("a request is found behind a torn line and a long list of changes, and damaged files are passed over", async () => {
  const before = await asked();
  const { manager, home } = await afterCrash(before);
  const path = `${home}/conversations/${before.conversationId}.jsonl`;
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  const named = JSON.stringify({ timestamp: "", type: "cody", payload: { type: "named", name: "x".repeat(100_000) } });
  await appendFile(path, `${named}\n${lines.at(-1)?.slice(0, 20)}`);
  await appendFile(
    `${home}/conversations/${before.conversationId}0.jsonl`,
    `not JSON\n{"type":"approval_requested"}\n`,
  );
  expect(await manager.listApprovals()).toMatchObject([{ approvalId: before.id, state: "saved" }]);
});
