import { readFile } from "node:fs/promises";

const sources = new URL("../../src/", import.meta.url);
const exportFrom = /export (?:type )?(?:\*|\{(?<names>[^}]*)\}) from "\.\/(?<module>[^"]+)\.js"/g;
const declaration = /^export (?:abstract )?(?:async )?(?:const|function|class|type|interface) (\w+)/gm;

/** Every name the library exports, types among them. */
export async function exportedNames(): Promise<string[]> {
  const index = await readFile(new URL("index.ts", sources), "utf8");
  const names = await Promise.all(
    Array.from(index.matchAll(exportFrom), async ({ groups }) =>
      groups?.["names"] === undefined ? await declaredIn(groups?.["module"] ?? "") : listed(groups["names"]),
    ),
  );
  return [...new Set(names.flat())];
}

function listed(names: string): string[] {
  const written = names.split(",").map((name) => name.trim());
  return written.filter((name) => name !== "").map((name) => name.replace(/^type |.* as /g, ""));
}

async function declaredIn(module: string): Promise<string[]> {
  const source = await readFile(new URL(`${module}.ts`, sources), "utf8");
  return Array.from(source.matchAll(declaration), ([, name = ""]) => name);
}
