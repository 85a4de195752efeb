import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";

/** A change another program makes to a rollout that is being written. */
export interface ForeignChange {
  readonly name: string;
  readonly act: (path: string) => void;
  /** Whether the file still holds what the other program left; of a truncated file, the remaining bytes. */
  readonly stays: (path: string, before: string) => boolean;
}

const foreign = '{"type":"foreign","payload":{}}\n';
const fewBytes = 10;

export const foreignChanges: readonly ForeignChange[] = [
  { name: "removed", act: (path) => rmSync(path), stays: isGone },
  { name: "renamed", act: (path) => renameSync(path, `${path}.old`), stays: isGone },
  {
    name: "truncated to nothing",
    act: (path) => truncateSync(path),
    stays: (path) => !readFileSync(path).includes(0),
  },
  {
    name: "truncated",
    act: (path) => truncateSync(path, Math.min(fewBytes, readFileSync(path).length)),
    stays: (path, before) => readFileSync(path, "utf8").startsWith(before.slice(0, fewBytes)),
  },
  {
    name: "appended to",
    act: (path) => appendFileSync(path, foreign),
    stays: (path, before) => readFileSync(path, "utf8").startsWith(before + foreign),
  },
  {
    name: "replaced",
    act: (path) => {
      rmSync(path);
      writeFileSync(path, foreign);
    },
    stays: (path) => readFileSync(path, "utf8") === foreign,
  },
];

function isGone(path: string): boolean {
  try {
    readFileSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
