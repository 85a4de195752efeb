import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WrittenConfig } from "../../src/config/files/written-config.js";
import { openConversation } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const input = "*** Begin Patch\n*** Update File: a.txt\n-old\n+new\n*** End Patch";

async function open(config: WrittenConfig = {}) {
  const cwd = await temporaryFolder();
  const file = join(cwd, "a.txt");
  await writeFile(file, "old\n");
  const provider = scripted([calls("apply_patch", "c1", { input }), says("ok")]);
  return { file, provider, ...(await openConversation({ provider, config, cwd })) };
}

test("the approval request for a patch shows the resulting changes, and an approved patch is applied", async () => {
  const { conversation, events, cwd, file, provider } = await open();
  await conversation.submit("go");
  const request = await events.until("apply_patch_approval_request");
  const changes = { [file]: { type: "update", unified_diff: "@@ -1 +1 @@\n-old\n+new\n", move_path: null } };
  expect(request).toEqual({
    type: "apply_patch_approval_request",
    approval_id: expect.any(String),
    call_id: "c1",
    turn_id: conversation.turn?.turnId,
    tool: "apply_patch",
    command: ["apply_patch", input, file],
    cwd,
    changes,
    reason: "no sandbox: every command needs approval",
  });
  expect(await readFile(file, "utf8")).toBe("old\n");
  await conversation.submit({ type: "patch_approval", id: request.approval_id, decision: "approved" });
  expect(await events.until("patch_apply_begin")).toMatchObject({ call_id: "c1", auto_approved: false, changes });
  expect(await events.until("patch_apply_end")).toMatchObject({ call_id: "c1", success: true });
  await events.until("task_complete");
  expect(await readFile(file, "utf8")).toBe("new\n");
  expect(provider.requests.at(-1)?.input.at(-1)).toMatchObject({
    type: "function_call_output",
    output: "Success. Updated the following files:\nM a.txt",
  });
  const recorded = (await rolloutLines(conversation.rolloutPath)).filter(({ type }) => type === "cody");
  expect(recorded.map(({ payload }) => [payload["type"], payload["changes"]])).toEqual([
    ["approval_requested", changes],
    ["approval_decided", undefined],
  ]);
});

test("a denied patch changes nothing", async () => {
  const { conversation, events, file } = await open();
  await conversation.submit("go");
  const { approval_id } = await events.until("apply_patch_approval_request");
  await conversation.submit({ type: "exec_approval", id: approval_id, decision: "denied" });
  await events.until("task_complete");
  expect(await readFile(file, "utf8")).toBe("old\n");
  expect(events.types()).not.toContain("patch_apply_begin");
});

test("with full access a patch is applied without approval", async () => {
  const { conversation, events, file } = await open({ approvalPolicy: "on-request", sandbox: "danger-full-access" });
  await conversation.submit("go");
  expect(await events.until("patch_apply_begin")).toMatchObject({ auto_approved: true });
  await events.until("task_complete");
  expect(await readFile(file, "utf8")).toBe("new\n");
});

test("`processMessage` asks its approver about patches", async () => {
  const { conversation, file } = await open();
  const asked: unknown[] = [];
  await conversation.processMessage("go", {
    approve: (request) => {
      asked.push(request.changes?.[file]?.type);
      return "approved";
    },
  });
  expect([asked, await readFile(file, "utf8")]).toEqual([["update"], "new\n"]);
});
