import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("persistence.sh", import.meta.url));

test("the eight scenarios of the manual test pass as they are typed", { timeout: 120_000 }, async () => {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)("bash", [script], { env: { PATH } });
  expect(stdout).toContain("All eight scenarios passed.");
});
