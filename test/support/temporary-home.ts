import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder that is gone when the test is over. */
export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "cody-test-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}
