import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { configKeys } from "../../src/config/settings/setting-keys.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const introductions = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

test("every link in the documents leads to an existing file and heading", async () => {
  const broken: string[] = [];
  for (const page of await pages()) {
    for (const target of linksIn(await textOf(page))) {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      if (!(await exists(file))) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && !anchorsIn(await textOf(file)).has(anchor)) broken.push(`${page}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test("every source file named in a document exists", async () => {
  const missing: string[] = [];
  for (const page of await pages()) {
    const named = (await textOf(page)).matchAll(/`((?:src|test|docs|scripts|examples)\/[^`<>*\s]+)`/g);
    for (const [, path = ""] of named) if (!(await exists(path))) missing.push(`${page}: ${path}`);
  }
  expect(missing).toEqual([]);
});

test("the index names every page of the documentation", async () => {
  const index = linksIn(await textOf("docs/README.md"));
  const files = (await readdir(join(root, "docs"), { withFileTypes: true })).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => name !== "README.md");
  expect(names.filter((name) => !index.includes(name))).toEqual([]);
});

test("docs/config.md names every setting", async () => {
  const page = await textOf("docs/config.md");
  expect(configKeys.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
});

/** DECISIONS.md and CHANGELOG.md also name files of the past. */
async function pages(): Promise<string[]> {
  const names = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md"));
  return [...introductions, ...names.map((name) => `docs/${name}`)];
}

function linksIn(text: string): string[] {
  const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors GitHub gives to headings. */
function anchorsIn(text: string): Set<string> {
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

async function textOf(page: string): Promise<string> {
  return await readFile(join(root, page), "utf8");
}

async function exists(path: string): Promise<boolean> {
  return await stat(join(root, path)).then(
    () => true,
    () => false,
  );
}
