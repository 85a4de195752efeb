import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { images } from "../support/images.js";
import { serverEntry } from "../support/mcp/servers.js";
import { EventLog } from "../support/open-conversation.js";
import { mockLlm, wireApis, wireEnv, wireManager } from "../support/wire-apis.js";

const data = images.png.toString("base64");

/** The image in each API's form: in the output of its call, or after the outputs where those cannot hold images. */
const shapes = {
  responses: { type: "input_image", image_url: `data:image/png;base64,${data}`, detail: "auto" },
  chat: { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
  messages: { type: "image", source: { type: "base64", media_type: "image/png", data } },
};

const fullAccess = { approvalPolicy: "on-request", sandbox: "danger-full-access" } as const;

describe.each(wireApis)("over $api", (spoken) => {
  test("an image from an MCP server is sent to the model, now and after a resume", async () => {
    const content = [
      { type: "text", text: "a dot" },
      { type: "image", mimeType: "image/png", data },
      { type: "resource", resource: { uri: "x://1", text: "what is embedded" } },
      { type: "image", mimeType: "image/png", data: data.slice(0, 40) },
    ];
    const mock = await mockLlm([
      { calls: [{ id: "call_one", name: "mcp__one__content", arguments: { content } }] },
      { text: "A dot" },
      { text: "Still a dot" },
    ]);
    const { provider, api, model } = spoken;
    const { manager } = await wireManager(mock, spoken, {
      env: { ...wireEnv(mock), PATH: process.env["PATH"] },
      config: { provider, api, model, ...fullAccess, mcp_servers: { one: serverEntry() } },
    });
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Look");
    expect(JSON.stringify(await events.until("mcp_tool_call_end"))).toContain(`${images.png.length} bytes]`);
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "A dot" });
    await conversation.shutdown();
    const resumed = await manager.resumeConversation(conversation.id);
    await resumed.processMessage("Again");
    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
    const sent = mock.requests.slice(1).map(({ body }) => JSON.stringify(body));
    const shape = JSON.stringify(shapes[spoken.api]);
    expect(sent.map((body) => body.split(shape).length - 1)).toEqual([1, 1]);
    for (const body of sent) {
      expect(body).toContain("[resource x://1]\\nwhat is embedded");
      expect(body).toContain("not shown: its end is missing (image/png)");
    }
  });

  test("an image from a tool is sent to the model, now and after a resume", async () => {
    const mock = await mockLlm([
      {
        calls: [
          { id: "call_one", name: "view_image", arguments: { path: "a.png" } },
          { id: "call_two", name: "list_files", arguments: {} },
        ],
      },
      { text: "A dot" },
      { text: "Still a dot" },
    ]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    await writeFile(join(conversation.settings.cwd, "a.png"), images.png);
    const events = new EventLog(conversation);
    await conversation.submit("Look");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "A dot" });
    await conversation.shutdown();
    const resumed = await manager.resumeConversation(conversation.id);
    const later = new EventLog(resumed);
    await resumed.submit("Again");
    expect(await later.until("task_complete")).toMatchObject({ last_agent_message: "Still a dot" });
    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
    const shape = JSON.stringify(shapes[spoken.api]);
    const seen = mock.requests.map(({ body }) => JSON.stringify(body).split(shape).length - 1);
    expect(seen).toEqual([0, 1, 1]);
  });
});
