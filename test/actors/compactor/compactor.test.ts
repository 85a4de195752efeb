import { expect, onTestFinished, test } from "vitest";
import {
  compactor,
  type CompactorOptions,
  type SummaryProvider,
  Summarizer,
  type SummaryOutcome,
} from "../../../src/actors/compactor/compactor.js";
import { TokenCounts } from "../../../src/actors/compactor/token-counts.js";
import { spawn } from "../../../src/actors/runtime/spawn.js";
import { openCpuPool } from "../../../src/workers/cpu-pool.js";
import { openIoPool } from "../../../src/workers/io-pool.js";
import { openGate } from "../../support/open-gate.js";
import { assistant, scripted, says, user } from "../../support/scripted-provider.js";

const asked = { conversationId: "c", model: "gpt-4o", instructions: "", items: [user("Hi")], prompt: "Summarize" };
const request = { ...asked, maxBytes: 10_000 };

function open(summarizer?: Summarizer) {
  const [cpu, io, counts] = [openCpuPool(), openIoPool(), new TokenCounts()];
  const options: CompactorOptions = {
    cpu,
    summarizer: summarizer ?? new Summarizer(cpu, io, openGate({})),
    counts,
  };
  const ref = spawn(compactor, options);
  onTestFinished(async () => {
    await ref.stop();
    await Promise.all([cpu.close(), io.close()]);
  });
  return { ref, counts };
}

function by(...replies: Parameters<typeof scripted>): SummaryProvider {
  return { kind: "provider", provider: scripted(...replies) };
}

const done = (text: string) => expect.objectContaining({ status: "done", text });

test("token counts are estimates until an item is counted, and each item is counted once", async () => {
  const { ref, counts } = open();
  const item = assistant("word ".repeat(1000));
  expect(counts.of(item, "gpt-4o")).toBe(1250);
  await ref.ask({ type: "count", items: [item], model: "gpt-4o" });
  expect(counts.of(item, "gpt-4o")).toBe(1001);
  expect(counts.uncounted([item], "gpt-4o")).toEqual([]);
  expect(counts.uncounted([item], "gpt-4")).toEqual([item]);
});

test("a prepared summary is returned on request until it is forgotten", async () => {
  const { ref } = open();
  const last = user("Hi");
  expect(await ref.ask({ type: "prepared", conversationId: "c", wait: true })).toBeUndefined();
  await ref.tell({ type: "prepare", conversationId: "c", cut: 1, last, by: by([says("Short")]), request });
  expect(await ref.ask({ type: "prepared", conversationId: "c", wait: true })).toEqual({
    cut: 1,
    last,
    outcome: done("Short"),
  });
  await ref.tell({ type: "forget", conversationId: "c" });
  expect(await ref.ask({ type: "prepared", conversationId: "c", wait: false })).toBeUndefined();
});

test("a summary in preparation reports running, and forgetting it aborts it", async () => {
  const { ref } = open();
  const hanging = by([[{ type: "hang" }]]);
  await ref.tell({ type: "prepare", conversationId: "c", cut: 1, last: user("Hi"), by: hanging, request });
  expect(await ref.ask({ type: "prepared", conversationId: "c", wait: false })).toBe("running");
  const waiting = ref.ask({ type: "prepared", conversationId: "c", wait: true });
  await ref.tell({ type: "forget", conversationId: "c" });
  expect(await waiting).toBeUndefined();
});

test("a failing summary rejects only its own request, and the next request succeeds", async () => {
  let isBroken = true;
  class Faulty extends Summarizer {
    override async summarize(...args: Parameters<Summarizer["summarize"]>): Promise<SummaryOutcome> {
      if (!isBroken) return await super.summarize(...args);
      isBroken = false;
      throw new Error("a bug");
    }
  }
  const { ref } = open(new Faulty(openCpuPool(), openIoPool(), openGate({})));
  await expect(ref.ask({ type: "summarize", by: by([says("Short")]), request })).rejects.toThrow("a bug");
  expect(await ref.ask({ type: "summarize", by: by([says("Short")]), request })).toEqual(done("Short"));
});
