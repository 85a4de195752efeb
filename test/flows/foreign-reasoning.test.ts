import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { mockLlm, wireApis, wireManager } from "../support/wire-apis.js";

const sealing = wireApis.filter(({ api }) => api !== "chat");

test.each(sealing)(
  "a conversation whose reasoning another account has encrypted continues over $api",
  async (spoken) => {
    const mock = await mockLlm([
      { reasoning: "Hm.", text: "Yes" },
      { calls: [{ name: "read_file", arguments: { path: "a" } }] },
      { text: "There is no such file" },
    ]);
    const { manager, home } = await wireManager(mock, spoken);
    const { conversation, conversationId } = await manager.newConversation({ effort: "low" });
    await conversation.processMessage("Really?");
    const path = conversation.rolloutPath ?? "";
    await manager.shutdown();
    const text = await readFile(path, "utf8");
    const foreign = text.replaceAll(/"encrypted_content":"[^"]+"/g, '"encrypted_content":"of-somebody-else"');
    expect(foreign).not.toBe(text);
    await writeFile(path, foreign);

    const after = await wireManager(mock, spoken, { home });
    const resumed = await after.manager.resumeConversation(conversationId, { effort: "low" });
    await resumed.processMessage("What is in a?");
    // Only the first request is refused: the second request of the turn leaves the reasoning out from the start.
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 400, 200, 200]);
    const warned = resumed.events({ since: 0 });
    for await (const { msg } of warned) {
      if (msg.type !== "warning") continue;
      expect(msg.message).toMatch(/retrying without the model's earlier reasoning$/);
      break;
    }
  },
);
