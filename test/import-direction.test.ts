import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));
const lower = [
  "base",
  "messages",
  "config",
  "providers",
  "tools",
  "rollouts",
  "compaction",
  "context",
  "changes",
  "sandbox",
];

/** The folders and files of src that each folder may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  messages: ["base"],
  config: ["base", "messages"],
  providers: ["base", "messages"],
  tools: ["base", "messages"],
  rollouts: ["base", "messages", "version.ts"],
  compaction: ["base", "messages"],
  context: ["base", "messages"],
  changes: ["base", "messages", "tools"],
  sandbox: ["base", "messages", "config", "context", "tools"],
  "mock-llm": ["base", "messages", "providers"],
  workers: lower,
  actors: [...lower, "workers", "version.ts"],
  batch: [...lower, "actors"],
  control: ["base", "messages", "rollouts", "actors", "version.ts"],
  "manager.ts": [...lower, "workers", "actors", "batch", "control"],
  // The package's entry points besides the main one.
  public: [...lower, "actors", "mock-llm"],
  "index.ts": [...lower, "actors", "batch", "manager.ts", "version.ts", "public"],
  "version.ts": [],
  cli: [...lower, "workers", "actors", "batch", "control", "mock-llm", "manager.ts", "version.ts"],
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

function folderOf(file: string): string {
  if (file.startsWith("workers/entries/")) return "workers/entries";
  return file.split("/")[0] ?? "";
}

test("each folder imports only the folders it may import", async () => {
  const imports = await allImports();
  expect(imports.length).toBeGreaterThan(50);
  const wrong = imports.filter(({ from, to }) => {
    const [folder, target] = [folderOf(from), folderOf(to)];
    return folder !== target && !(mayImport[folder] ?? []).includes(target);
  });
  expect(wrong).toEqual([]);
});

test("there are no circular imports, not even of types", async () => {
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

test("no file imports the entry of a thread or of the process", async () => {
  const roots = (await allImports()).filter(({ to }) => to.startsWith("workers/entries/") || to === "cli/main.ts");
  expect(roots).toEqual([]);
});

test.each([
  { folder: "mock-llm", from: "providers", only: ["providers/offline/reply.ts"] },
  // The link-safe file writer and git's ignore rules.
  {
    folder: "changes",
    from: "tools",
    only: [
      "tools/files/file-problem.ts",
      "tools/files/open-folder.ts",
      "tools/files/temporary-name.ts",
      "tools/policy/secret-files.ts",
      "tools/search/ignore-rules.ts",
    ],
  },
])("$folder imports only a few files from $from", async ({ folder, from: neighbour, only }) => {
  const imports = await allImports();
  const used = imports.filter(({ from, to }) => from.startsWith(`${folder}/`) && to.startsWith(`${neighbour}/`));
  expect([...new Set(used.map(({ to }) => to))].toSorted()).toEqual(only);
});
