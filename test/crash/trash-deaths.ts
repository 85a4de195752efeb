import { truncateSync, writeFileSync } from "node:fs";
import type { TrashFiles } from "../../src/rollouts/trash/trash-files.js";

interface Death {
  /** The trash lies on another file system. */
  readonly acrossDisks: boolean;
  /** Which call is the last one, counted from 1. */
  readonly deathAt: number;
}

type Call = (...args: unknown[]) => Promise<unknown>;

/** A disk whose user dies at one of the calls: before it, or with a half-made file. */
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
