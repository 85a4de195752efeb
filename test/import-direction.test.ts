import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));
const lower = ["base", "messages", "config", "providers", "tools", "rollouts", "compaction", "context", "changes"];

/** What each room may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  messages: ["base"],
  config: ["base", "messages"],
  providers: ["base", "messages"],
  tools: ["base", "messages"],
  rollouts: ["base", "messages", "version.ts"],
  compaction: ["base", "messages"],
  context: ["base", "messages"],
  // Of the tools only what writes a file without following links, and what is ignored; of the configuration only where git keeps what is its own.
  changes: ["base", "messages", "tools", "config"],
  // Of the providers only the offline model.
  "mock-llm": ["base", "messages", "providers"],
  workers: lower,
  actors: [...lower, "workers", "version.ts"],
  "manager.ts": [...lower, "workers", "actors"],
  // The entries of the package besides its main one.
  public: [...lower, "actors", "mock-llm"],
  "index.ts": [...lower, "actors", "manager.ts", "version.ts", "public"],
  "version.ts": [],
  cli: [...lower, "workers", "actors", "mock-llm", "manager.ts", "version.ts"],
  "workers/entries": [...lower, "workers", "actors", "manager.ts", "version.ts"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

async function allImports(): Promise<Import[]> {
  const files = (await readdir(source, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const found = files.map(async (from) => {
    const text = await readFile(join(source, from), "utf8");
    const specifiers = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
    return specifiers.map((name) => ({
      from,
      to: relative(source, resolve(source, dirname(from), name)).replace(/\.js$/, ".ts"),
    }));
  });
  return (await Promise.all(found)).flat();
}

function roomOf(file: string): string {
  if (file.startsWith("workers/entries/")) return "workers/entries";
  return file.split("/")[0] ?? "";
}

test("imports go one way: from the outer rooms to the inner ones", async () => {
  const imports = await allImports();
  expect(imports.length).toBeGreaterThan(50);
  const wrong = imports.filter(({ from, to }) => {
    const [room, target] = [roomOf(from), roomOf(to)];
    return room !== target && !(mayImport[room] ?? []).includes(target);
  });
  expect(wrong).toEqual([]);
});

test("no files import each other in a circle, not even for types", async () => {
  const targets = new Map<string, string[]>();
  for (const { from, to } of await allImports()) targets.set(from, [...(targets.get(from) ?? []), to]);
  const [done, path] = [new Set<string>(), [] as string[]];
  const visit = (file: string): string[] => {
    const start = path.indexOf(file);
    if (start !== -1) return [[...path.slice(start), file].join(" -> ")];
    if (done.has(file)) return [];
    path.push(file);
    const found = (targets.get(file) ?? []).flatMap(visit);
    path.pop();
    done.add(file);
    return found;
  };
  expect([...targets.keys()].flatMap(visit)).toEqual([]);
});

test("nobody imports the first file of a thread or of the process", async () => {
  const roots = (await allImports()).filter(({ to }) => to.startsWith("workers/entries/") || to === "cli/main.ts");
  expect(roots).toEqual([]);
});

test("the mock server takes nothing of the providers but the offline model", async () => {
  const taken = (await allImports()).filter(
    ({ from, to }) => from.startsWith("mock-llm/") && to.startsWith("providers/"),
  );
  expect(new Set(taken.map(({ to }) => to))).toEqual(new Set(["providers/offline/reply.ts"]));
});
