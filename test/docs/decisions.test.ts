import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const folder = new URL("../../docs/decisions/", import.meta.url);
const areas = (await readdir(folder)).filter((name) => name.endsWith(".md"));
const pages = new Map(await Promise.all(areas.map(async (name) => [name, await text(new URL(name, folder))] as const)));
const index = await text(new URL("../../DECISIONS.md", import.meta.url));

test("the index lists every current decision once, and no superseded one", () => {
  const listed = linksIn(index).map((link) => link.replace("docs/decisions/", ""));
  const holding = [...pages].flatMap(([name, page]) =>
    decisionsIn(page)
      .filter(({ body }) => !body.includes("**Superseded** by"))
      .map(({ title }) => `${name}#${anchorOf(title)}`),
  );
  expect(listed.toSorted()).toEqual(holding.toSorted());
});

test("the index lists the newest decision of each area first", () => {
  for (const section of index.split("\n## ").slice(1)) expect(datesIn(section)).toEqual(newestFirst(datesIn(section)));
});

test("every link between decisions has a target", () => {
  const known = new Set(
    [...pages].flatMap(([name, page]) => decisionsIn(page).map(({ title }) => `${name}#${anchorOf(title)}`)),
  );
  const linked = [...pages].flatMap(([name, page]) =>
    linksIn(page)
      .filter((link) => link.includes("#"))
      .map((link) => (link.startsWith("#") ? `${name}${link}` : link)),
  );
  expect(linked.filter((link) => !known.has(link))).toEqual([]);
});

test("every decision has its context, the decision and the reason", () => {
  const incomplete = [...pages.values()]
    .flatMap(decisionsIn)
    .filter(({ body }) => ["Context", "Decision", "Why"].some((label) => !body.includes(`- **${label}:** `)));
  expect(incomplete.map(({ title }) => title)).toEqual([]);
});

function decisionsIn(page: string): readonly { title: string; body: string }[] {
  return page
    .split("\n## ")
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { title: part.slice(0, end), body: part.slice(end) };
    });
}

/** The anchor GitHub gives a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

function linksIn(page: string): readonly string[] {
  return Array.from(page.matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link);
}

function datesIn(section: string): readonly string[] {
  return Array.from(section.matchAll(/^- (\d{4}-\d\d-\d\d) /gm), ([, date = ""]) => date);
}

function newestFirst(dates: readonly string[]): readonly string[] {
  return dates.toSorted().toReversed();
}

async function text(url: URL): Promise<string> {
  return await readFile(url, "utf8");
}
