import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openOutbox, RolloutOutbox } from "../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import type { Rollout } from "../../src/actors/rollout-writer/rollout.js";
import { spawnThread } from "../../src/actors/runtime/spawn-thread.js";
import type { RolloutWriterAnswers, RolloutWriterOp, RolloutWriterEvent } from "../../src/messages/rollout-writer.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine } from "../../src/rollouts/file/encode.js";
import { entryUrl } from "../../src/workers/entry-url.js";
import { bundleModule } from "../support/bundle.js";
import { plainEncoder } from "../support/redaction.js";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cody-thread-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function said(text: string): OwnLine {
  const content = [{ type: "input_text" as const, text }];
  return {
    timestamp: "2026-11-16T00:00:00.000Z",
    type: "response_item",
    payload: { type: "message", role: "user", content },
  };
}

function request(id: string) {
  return { conversationId: id, path: join(directory, `${id}.jsonl`), mode: "create" as const, encode: plainEncoder };
}

const ids = Array.from({ length: 40 }, (_, index) => `c${index}`);
const rounds = 5;
const lineOf = (id: string, round: number): OwnLine => said(`${id} round ${round} ${"x".repeat(round * 100)}`);

function expectEveryLineOnce(): void {
  for (const id of ids) {
    const expected = Array.from({ length: rounds }, (_, round) => encodeLine(lineOf(id, round)).repeat(2)).join("");
    expect(readFileSync(join(directory, `${id}.jsonl`), "utf8")).toBe(expected);
  }
}

/** Flushes until everything is saved; every answer comes within the outbox's deadline. */
async function untilSaved(rollout: Rollout): Promise<void> {
  for (;;) if ((await rollout.flush()).status === "saved") return;
}

async function play(rollouts: readonly Rollout[]): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      rollouts.map(async (rollout, index) => {
        const line = lineOf(ids[index] ?? "", round);
        rollout.append(line);
        rollout.append(line);
        await untilSaved(rollout);
      }),
    );
  }
}

test("forty conversations are saved by the writer's own thread", async () => {
  const outbox = openOutbox({ XDG_RUNTIME_DIR: directory });
  const opened = await Promise.all(ids.map((id) => outbox.open(request(id))));
  expect(opened.map(({ outcome }) => outcome.status)).toEqual(ids.map(() => "open"));
  await play(opened.map(({ rollout }) => rollout));
  await outbox.stop();
  expectEveryLineOnce();
});

test("a writer thread that dies repeatedly between a write and its answer leaves every line exactly once", async () => {
  const program = await bundleModule("test/threads/dying-writer.ts");
  const socket = await openOwnerSocket(directory);
  let deaths = 0;
  const outbox = new RolloutOutbox({
    owner: async () => socket.owner,
    spawnWriter: ({ onRestart, ...options }) =>
      spawnThread<RolloutWriterOp, RolloutWriterAnswers, null, RolloutWriterEvent>(pathToFileURL(program.file), null, {
        ...options,
        budget: { restarts: 10_000, windowMs: 1000 },
        onRestart: (failure) => {
          deaths += 1;
          onRestart?.(failure);
        },
      }),
  });
  const opened = await Promise.all(ids.map((id) => outbox.open(request(id))));
  expect(opened.map(({ outcome }) => outcome.status)).toEqual(ids.map(() => "open"));
  await play(opened.map(({ rollout }) => rollout));
  expect(deaths).toBeGreaterThan(3);
  expectEveryLineOnce();
  await outbox.stop();
  expectEveryLineOnce();
  await socket.close();
  await program[Symbol.asyncDispose]();
});

test("the writer's thread loads no schema library", () => {
  const seen = new Set<string>();
  const visit = (url: URL): void => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const text = readFileSync(url, "utf8");
    for (const [, name = ""] of text.matchAll(/(?:from\s*|import\s*|require\()"(\.[^"]+)"/g)) visit(new URL(name, url));
  };
  visit(entryUrl("rollout-writer"));
  const zod = [...seen].filter((href) => readFileSync(new URL(href), "utf8").includes("ZodError"));
  expect(zod).toEqual([]);
});
