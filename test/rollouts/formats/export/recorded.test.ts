import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { OwnLine } from "../../../../src/messages/rollout-line.js";
import { exportFormats } from "../../../../src/rollouts/formats/export/export-format.js";
import { exportLines } from "../../../../src/rollouts/formats/export/export-lines.js";
import { readRollout, getRolloutHistory } from "../../../../src/rollouts/file/read.js";
import { putCodexRollouts } from "../../../support/codex-home.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
const recorded = ["v0.58.0", "v0.147.0", "v0.166.0"].flatMap((version) =>
  readdirSync(join(fixtures, "codex", version)).map((scenario) => `${version}/${scenario}`),
);

function sourceOf(path: string, conversationId: string) {
  return {
    conversationId,
    read: async function* (): AsyncGenerator<readonly OwnLine[]> {
      for await (const batch of readRollout(path, conversationId).batches()) yield batch.map(({ line }) => line);
    },
  };
}

async function exportFile(path: string, id: string, folder: string): Promise<string> {
  const exported = await exportLines(sourceOf(path, id), "codex");
  let text = "";
  for await (const piece of exported) text += piece;
  const target = join(folder, exported.fileName());
  await writeFile(target, text);
  return target;
}

test.each(recorded)("a recorded Codex rollout is exported for Codex with the same history: %s", async (scenario) => {
  const folder = await temporaryFolder();
  for (const { id, path } of await putCodexRollouts(folder, scenario)) {
    const target = await exportFile(path, id, folder);
    const { history } = await getRolloutHistory(path);
    const exported = await getRolloutHistory(target);
    expect(exported).toMatchObject({ conversationId: id, history, rolloutPath: target });
    for (const line of exported.items) {
      if (line.type !== "turn_context") continue;
      const { type, mode } = line.payload.sandbox_policy as { readonly type?: string; readonly mode?: string };
      expect([type, mode]).toEqual([type ?? "none", type ?? "none"]);
    }
  }
});

test.each(["turns", "turns-compacted", "messages", "entries-1", "entries-2"])(
  "a conversation in an older format is exported for Codex with the same history: %s",
  async (form) => {
    const folder = await temporaryFolder();
    const path = join(fixtures, "forms", `${form}.jsonl`);
    const id = basename(path, ".jsonl");
    const target = await exportFile(path, id, folder);
    expect((await getRolloutHistory(target)).history).toEqual((await getRolloutHistory(path)).history);
  },
);

test.each(recorded)("a recorded Codex rollout can be exported in every format: %s", async (scenario) => {
  const folder = await temporaryFolder();
  const [{ id, path } = { id: "", path: "" }] = await putCodexRollouts(folder, scenario);
  for (const format of exportFormats) {
    let length = 0;
    for await (const piece of await exportLines(sourceOf(path, id), format)) length += piece.length;
    expect(length).toBeGreaterThan(100);
  }
});
