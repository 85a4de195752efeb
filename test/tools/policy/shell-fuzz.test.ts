import { expect, test } from "vitest";
import { fuzzShell, generatedLines } from "./shell-fuzz.js";

const seed = Number(process.env["CODY_FUZZ_SEED"] ?? Date.now() % 1_000_000);

test("of 5,000 generated lines, sh runs nothing that the policy did not see", async () => {
  const { plain, ran, missed } = await fuzzShell("/bin/sh", generatedLines(5_000, seed));
  expect({ seed, missed }).toEqual({ seed, missed: [] });
  expect(plain).toBeGreaterThan(500);
  expect(ran).toBeGreaterThan(500);
});
