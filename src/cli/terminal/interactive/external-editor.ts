import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../../base/error-message.js";
import { visible } from "../../../base/text/visible.js";

interface Edited {
  /** Undefined if the text is unchanged, because the program failed. */
  readonly text?: string;
  readonly problem?: string;
}

/** Lets the person edit a text in `$VISUAL` or `$EDITOR`. The terminal must be lent. */
export async function editInProgram(text: string, env: Readonly<NodeJS.ProcessEnv>): Promise<Edited> {
  const program = env["VISUAL"] || env["EDITOR"] || "vi";
  const folder = await mkdtemp(join(tmpdir(), "cody-edit-"));
  const file = join(folder, "message.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    // The variable may hold arguments, so that a shell reads it, as git does.
    const child = spawn("sh", ["-c", `${program} "$1"`, "sh", file], { stdio: "inherit", env: { ...env } });
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    if (code !== 0) {
      const how = signal === null ? `exit code ${code}` : signal;
      return {
        problem: `The editor ${visible(program)} failed (${how}). The text is unchanged. Set EDITOR to another one.`,
      };
    }
    return { text: (await readFile(file, "utf8")).replace(/\n$/, "") };
  } catch (error) {
    return {
      problem: `Cannot edit the text in ${visible(program)}: ${errorMessage(error)}. Set EDITOR to another program.`,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
