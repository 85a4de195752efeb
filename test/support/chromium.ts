import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary-folder.js";

/** Returns the DOM of a page in a real browser, after everything in its first seconds has happened. */
export async function openInChromium(url: string, ...args: readonly string[]): Promise<string> {
  const executable = process.env["CODY_TEST_CHROMIUM"] ?? "chromium";
  const profile = join(await temporaryFolder(), "profile");
  const { stdout } = await promisify(execFile)(
    executable,
    [
      "--headless",
      // Needed because the tests run as root.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      `--user-data-dir=${profile}`,
      "--virtual-time-budget=5000",
      "--dump-dom",
      ...args,
      url,
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout;
}
