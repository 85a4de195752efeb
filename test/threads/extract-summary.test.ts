import { expect, onTestFinished, test } from "vitest";
import { extractSummary } from "../../src/compaction/summary/extract-summary.js";
import { openCpuPool } from "../../src/workers/cpu-pool.js";
import { assistant, user } from "../support/scripted-provider.js";

test("a summary without a model is the same in a thread as in the main thread", async () => {
  const pool = openCpuPool();
  onTestFinished(() => pool.close());
  const items = [user("build me a database"), assistant("We decided to use SQLite."), user("and now test it")];
  for (const previousSummary of [undefined, "## Goal\nA prototype"]) {
    const text = extractSummary(items, previousSummary);
    expect(text).toContain("SQLite");
    expect(await pool.run("extract_summary", { items, previousSummary })).toEqual({ ok: true, value: { text } });
  }
});
