import { readFile } from "node:fs/promises";
import { posix } from "node:path";

const sources = new URL("../../src/", import.meta.url);
const exportFrom = /export (?:type )?(?:\*|\{(?<names>[^}]*)\}) from "(?<module>\.[^"]+)\.js"/g;
const declaration = /^export (?:abstract )?(?:async )?(?:const|function|class|type|interface) (\w+)/gm;

/** Every name that a module exports, including types and the names of modules it re-exports entirely. */
export async function exportedNames(module: string): Promise<string[]> {
  const source = (await readFile(new URL(`${module}.ts`, sources), "utf8")).replaceAll(/\/\*\*.*?\*\//gs, "");
  const declared = Array.from(source.matchAll(declaration), ([, name = ""]) => name);
  const passedOn = Array.from(source.matchAll(exportFrom), async ({ groups }) =>
    groups?.["names"] === undefined
      ? await exportedNames(posix.join(posix.dirname(module), groups?.["module"] ?? ""))
      : listed(groups["names"]),
  );
  return [...new Set([...declared, ...(await Promise.all(passedOn)).flat()])];
}

function listed(names: string): string[] {
  const written = names.split(",").map((name) => name.trim());
  return written.filter((name) => name !== "").map((name) => name.replace(/^type |.* as /g, ""));
}
