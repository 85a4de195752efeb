import { copyFile, mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { idFromFileName } from "../../src/rollouts/layout.js";

const fixtures = fileURLToPath(new URL("../fixtures/codex/", import.meta.url));

export interface CodexRollout {
  readonly id: string;
  readonly path: string;
}

/** Copies recorded rollouts of a Codex version into a Codex home; returns them sorted by name. */
export async function putCodexRollouts(codexHome: string, scenario: string): Promise<CodexRollout[]> {
  const folder = join(fixtures, scenario);
  const day = join(codexHome, "sessions", "2026", "11", "16");
  await mkdir(day, { recursive: true });
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl")).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const path = join(day, name);
      await copyFile(join(folder, name), path);
      return { id: idFromFileName(basename(path)) ?? "", path };
    }),
  );
}
