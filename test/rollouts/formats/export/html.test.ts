import * as fc from "fast-check";
import { expect, test } from "vitest";
import { assistant, call, output, user } from "../../../compaction/items.js";
import { anyConversation, exportedText, itemLine, metaLine, turnOf } from "./export-helpers.js";
import { everywhere, hostileTexts } from "./hostile-texts.js";
import { readPage } from "./page-reader.js";

const hostile = hostileTexts("http://127.0.0.1:1");

test.each(hostile.map((text) => [text.slice(0, 60), text] as const))(
  "%j is not interpreted as HTML",
  async (_, text) => {
    expect(readPage(await exportedText(everywhere(text), "html")).problems).toEqual([]);
  },
);

test("no text is interpreted as HTML, wherever it occurs", async () => {
  const sign = fc.constantFrom(...hostile, "<", ">", '"', "'", "&", "`", "[", "](", ")", "\n", "    ");
  const piece = fc.oneof(sign, fc.string({ unit: "binary" }));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 5 }), async (pieces) => {
      const page = await exportedText(everywhere(pieces.join("").slice(0, 3_000)), "html");
      expect(readPage(page).problems).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("every conversation becomes a well-formed page with a section for each turn", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const { tags, problems } = readPage(await exportedText(lines, "html"));
      expect(problems).toEqual([]);
      const links = tags.flatMap(({ name, values }) => (name === "a" ? (values["href"] ?? []) : []));
      const ids = tags.flatMap(({ name, values }) => (name === "section" ? [`#${values["id"]}`] : []));
      // Each turn is in the table of contents and in its own heading.
      expect(links.filter((link) => link.startsWith("#")).toSorted()).toEqual([...ids, ...ids].toSorted());
    }),
    { numRuns: 60 },
  );
});

test("invisible characters are shown by name", async () => {
  const page = await exportedText([metaLine(), itemLine(user("a\u202eb\u001bc\r\nd👩‍💻"))], "html");
  expect(page).toContain('a<span class="c">U+202E</span>b<span class="c">U+001B</span>c\nd👩‍💻');
  expect(page).toContain("<title>a[U+202E]b[U+001B]c</title>");
});

test("calls are collapsible, and file changes are shown as diffs", async () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same";
  const items = [
    user("go"),
    call("call_1", "shell", { command: ["git", "diff"] }),
    output("call_1", diff),
    call("call_2", "edit", { path: "x", old_string: "one\ntwo", new_string: "three" }),
    output("call_2", "Exit code: 2\nWall time: 0.0 seconds\nOutput:\nno"),
  ];
  const page = await exportedText([metaLine(), ...turnOf(...items)], "html");
  expect(page).toContain('<details class="call"><summary><code>$ git diff</code></summary><h4>Arguments of shell</h4>');
  expect(page).toContain('<span class="del">-old\n</span><span class="add">+new\n</span><span> same\n</span></pre>');
  expect(page).toContain(
    '<span class="del">-one\n</span><span class="del">-two\n</span><span class="add">+three\n</span>',
  );
  expect(page).toContain('<span class="badge">exit 2</span>');
});

test("the model's Markdown is rendered", async () => {
  const text =
    "## Plan\n\n1. **bold** `<b>`\n2. [docs](https://example.com/?a=1&b=2)\n\n> quote &lt;x&gt;\n\n```ts\nlet a = 1 < 2;\n```";
  const page = await exportedText([metaLine(), ...turnOf(user("go"), assistant(text))], "html");
  expect(page).toContain(
    '<h4>Plan</h4><ol><li><strong>bold</strong> <code>&lt;b&gt;</code></li><li><a href="https://example.com/?a=1&amp;b=2" ' +
      'title="https://example.com/?a=1&amp;b=2" rel="noopener noreferrer nofollow">docs</a></li></ol>' +
      "<blockquote><p>quote &lt;x&gt;</p></blockquote><pre>let a = 1 &lt; 2;</pre>",
  );
});
