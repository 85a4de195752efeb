import { truncateSync, writeFileSync } from "node:fs";
import type { TrashFiles } from "../../src/rollouts/trash/trash-files.js";

interface Death {
  /** Whether the trash is on another file system. */
  readonly acrossDisks: boolean;
  /** The number of the call at which the process dies, counted from 1. */
  readonly deathAt: number;
}

type Call = (...args: unknown[]) => Promise<unknown>;

/** A file system whose process dies at one of its calls: before it, or with a half-made file. */
export function deadlyFiles(files: TrashFiles, { acrossDisks, deathAt }: Death): TrashFiles & { calls(): number } {
  let calls = 0;
  const watched = (name: string, original: Call): Call => {
    return async (...args) => {
      calls += 1;
      const [path, other] = args as string[];
      if (calls === deathAt) {
        if (name === "writeNew") writeFileSync(path ?? "", '{"hal');
        if (name === "copy") writeFileSync(other ?? "", "half");
        if (name === "blank") truncateSync(path ?? "", 0);
        process.kill(process.pid, "SIGKILL");
        return await new Promise(() => {});
      }
      if (acrossDisks && name === "link" && !String(path).endsWith(".partial")) {
        throw Object.assign(new Error("EXDEV"), { code: "EXDEV" });
      }
      return await original(...args);
    };
  };
  const entries = Object.entries(files).map(([name, original]) => [name, watched(name, original as Call)]);
  return { ...(Object.fromEntries(entries) as TrashFiles), calls: () => calls };
}
