import { expect, test } from "vitest";
import { fuzzShell, generatedLines } from "../tools/policy/shell-fuzz.js";

test.each(["/bin/bash", "/bin/dash"])(
  "of 50,000 generated lines, %s runs nothing that the policy did not see",
  async (shell) => {
    const seed = Date.now() % 1_000_000;
    const { plain, ran, missed } = await fuzzShell(shell, generatedLines(50_000, seed));
    expect({ seed, missed }).toEqual({ seed, missed: [] });
    expect(Math.min(plain, ran)).toBeGreaterThan(5_000);
  },
  120_000,
);
