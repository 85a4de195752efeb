import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { everywhere, hostileTexts } from "../rollouts/formats/export/hostile-texts.js";
import { exportedText } from "../rollouts/formats/export/export-helpers.js";
import { openInChromium } from "../support/chromium.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A server that records the requests it receives. */
async function listen(): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function open(page: string): Promise<string> {
  const path = join(await temporaryFolder(), "page.html");
  await writeFile(path, page);
  return await openInChromium(pathToFileURL(path).href);
}

function titleOf(dom: string): string {
  return /<title>([^<]*)<\/title>/.exec(dom)?.[1] ?? "";
}

test("the check detects a page that runs scripts and loads resources", async () => {
  const { origin, asked } = await listen();
  const image = `<img src="${origin}/broken.png" onerror="document.title='owned'">`;
  const dom = await open(`<!doctype html><title>mine</title><style>@import url(${origin}/x.css)</style>${image}`);
  expect(titleOf(dom)).toBe("owned");
  expect(asked.toSorted()).toEqual(["/broken.png", "/x.css"]);
});

test.each([
  ["as exported", (page: string) => page],
  ["with everything unfolded", (page: string) => page.replaceAll("<details ", '<details open="" ')],
])("in a browser a hostile conversation runs no script and loads nothing: %s", async (_, shown) => {
  const { origin, asked } = await listen();
  const lines = [...hostileTexts(origin).flatMap(everywhere), ...everywhere("the end")];
  const dom = await open(shown(await exportedText(lines, "html")));
  expect(titleOf(dom)).toBe("the end");
  expect(dom.match(/<(?:script|iframe|form|base|object|svg|link|video)\b/gi)).toBeNull();
  expect(asked).toEqual([]);
});
