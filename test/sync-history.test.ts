import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = new URL("../src/", import.meta.url);

/**
 * Members of a handle that need the whole history at once. In the handle's own thread they are fast; for a conversation
 * in another thread, or one that sleeps, they block until its file is read.
 */
const blocking =
  /\.(?:getHistory\(|history\??\.(?:turns|getMessagesForApi|estimateTokens|toJSON)\b|getMessagesForApi\()/;

async function usesIn(file: string): Promise<string[]> {
  const lines = (await readFile(new URL(file, source), "utf8")).split("\n");
  return lines.flatMap((line, index) => (blocking.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));
}

test("cody itself reads a history only with `await readHistory()`", async () => {
  const names = await readdir(fileURLToPath(source), { recursive: true });
  const files = names.filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(200);
  expect((await Promise.all(files.map(usesIn))).flat()).toEqual([]);
});

test.each(["conversation.getHistory().length", "this.#player?.conversation.history.turns", "session.history.toJSON()"])(
  "the check finds %s",
  (use) => expect(use).toMatch(blocking),
);
