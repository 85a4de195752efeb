import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EventLog } from "../support/open-conversation.js";
import { mockLlm, toolOutputs, wireApis, wireManager } from "../support/wire-apis.js";

describe.each(wireApis)("over $api", (spoken) => {
  const { path } = spoken;

  test("two calls of one answer are approved and run, and their outputs are sent back paired", async () => {
    const mock = await mockLlm([
      { text: "Two things.", calls: [write("call_one", "one.txt"), write("call_two", "two.txt")] },
      { text: "Both done" },
    ]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Do two things");
    for (const decision of ["approved", "denied"] as const) {
      const request = await events.until("exec_approval_request");
      await conversation.submit({ type: "exec_approval", id: request.approval_id, decision });
    }
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Both done" });
    expect(mock.requests.map((request) => [request.path, request.refusal])).toEqual([
      [path, undefined],
      [path, undefined],
    ]);
    const outputs = toolOutputs(mock.requests[1] ?? { body: {} });
    expect(Object.keys(outputs)).toEqual(["call_one", "call_two"]);
    expect(JSON.stringify(outputs["call_one"])).toContain("did call_one");
    expect(JSON.stringify(outputs["call_two"])).not.toContain("did call_two");
    const { cwd } = conversation.settings;
    expect(await readFile(join(cwd, "one.txt"), "utf8")).toBe("call_one\n");
    await expect(readFile(join(cwd, "two.txt"))).rejects.toThrow("ENOENT");
  });

  test("an interrupt while a tool runs closes its call, and the next request is accepted", async () => {
    const mock = await mockLlm([
      { calls: [{ id: "call_long", name: "shell", arguments: { command: ["sleep", "600"] } }] },
      { text: "As you like" },
    ]);
    const { manager } = await wireManager(mock, spoken, {
      config: { ...spokenConfig(spoken), sandbox: "danger-full-access" },
    });
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Wait");
    await events.until("exec_command_begin");
    await conversation.interrupt();
    await events.until("turn_aborted");
    await conversation.submit("Never mind");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "As you like" });
    expect(Object.keys(toolOutputs(mock.requests[1] ?? { body: {} }))).toEqual(["call_long"]);
  });
});

/** A call that creates a file. */
function write(id: string, name: string) {
  return { id, name: "shell", arguments: { command: ["sh", "-c", `echo ${id} > ${name}; echo did ${id}`] } };
}

function spokenConfig({ provider, api, model }: (typeof wireApis)[number]) {
  return { provider, api, model };
}
