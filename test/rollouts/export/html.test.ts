import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { OwnLine } from "../../../src/messages/rollout-line.js";
import { assistant, call, output, thought, user } from "../../compaction/items.js";
import { anyConversation, exportedText, itemLine, metaLine, turnOf } from "./lines.js";
import { readPage } from "./page.js";

function everywhere(text: string): OwnLine[] {
  return [
    metaLine(),
    ...turnOf(
      user(text),
      { ...user(""), content: [{ type: "input_image", image_url: text }] },
      thought(text),
      call("call_1", text, { [text]: text, old_string: text, new_string: text }),
      { type: "function_call", name: "x", call_id: "call_2", arguments: text },
      output("call_1", text),
      { type: "function_call_output", call_id: "call_2", output: [{ type: "input_image", image_url: text }] },
      { type: "web_search_call", action: { type: text } },
      assistant(text),
    ),
    { timestamp: text, type: "compacted", payload: { message: text, replacement_history: [] } },
    { timestamp: text, type: "cody", payload: { type: "named", name: text || "x" } },
  ];
}

/** What a page must not obey, wherever it stands. */
const hostile = [
  "<script>document.title = 'owned'</script>",
  "</title><script>alert(1)</script>",
  "</details></section></main><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "<svg onload=alert(1)><a xlink:href=javascript:alert(1)>x</a></svg>",
  "[click](javascript:alert(1)) [x](data:text/html,<script>alert(1)</script>) [y](JaVaScRiPt:alert(1))",
  "[click](java&#115;cript:alert(1)) [z](\u0001javascript:alert(1)) <javascript:alert(1)>",
  '[a](https://example.com/"onclick="alert(1) "title\'>")',
  "![pixel](http://127.0.0.1:1/pixel.png) ![i](data:image/svg+xml;base64,PHN2Zz4=)",
  "<style>@import url(http://127.0.0.1:1/x.css)</style>",
  '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:1/">',
  '<base href="http://127.0.0.1:1/"><form action=x><iframe srcdoc="<script>alert(1)</script>">',
  "<!-- <![CDATA[ ]]> --> <!doctype html> <?php",
  "```html\n</pre><script>alert(1)</script>\n```",
  "| a | b |\n|---|---|\n| <script>x</script> | [l](javascript:1) |",
  "--- a\n+++ b\n@@ -1 +1 @@\n-<script>\n+</pre><script>alert(1)</script>",
  "*** Begin Patch\n*** Update File: </code><script>\n+x",
  "&lt;script&gt; &amp;lt; &#60;script&#62; &#x202e;",
  "\u0000\u0008\u001b[31m\u202e\u2066\u200b\ufeff\ud800\u{e0041}",
  "data:image/png;base64,iVBORw0KGgo=",
  'data:image/png;base64,iVBOR"onerror="alert(1)',
  ">".repeat(20_000),
  "- ".repeat(5_000),
];

test.each(hostile.map((text) => [text.slice(0, 60), text] as const))("nothing of %j is obeyed", async (_, text) => {
  expect(readPage(await exportedText(everywhere(text), "html")).problems).toEqual([]);
});

test("nothing of any text is obeyed, wherever it stands", async () => {
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

test("every conversation is a page that is well formed and has a place for each of its turns", async () => {
  await fc.assert(
    fc.asyncProperty(anyConversation, async (lines) => {
      const { tags, problems } = readPage(await exportedText(lines, "html"));
      expect(problems).toEqual([]);
      const links = tags.flatMap(({ name, values }) => (name === "a" ? (values["href"] ?? []) : []));
      const ids = tags.flatMap(({ name, values }) => (name === "section" ? [`#${values["id"]}`] : []));
      // Each stands in the contents and in its own heading.
      expect(links.filter((link) => link.startsWith("#")).toSorted()).toEqual([...ids, ...ids].toSorted());
    }),
    { numRuns: 60 },
  );
});

test("what cannot be seen is named", async () => {
  const page = await exportedText([metaLine(), itemLine(user("a\u202eb\u001bc\r\nd👩‍💻"))], "html");
  expect(page).toContain('a<span class="c">U+202E</span>b<span class="c">U+001B</span>c\nd👩‍💻');
  expect(page).toContain("<title>a[U+202E]b[U+001B]c</title>");
});

test("calls can be opened, and what changes files is shown as a change", async () => {
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

test("what a model writes in Markdown is shown as it means it", async () => {
  const text =
    "## Plan\n\n1. **bold** `<b>`\n2. [docs](https://example.com/?a=1&b=2)\n\n> quote &lt;x&gt;\n\n```ts\nlet a = 1 < 2;\n```";
  const page = await exportedText([metaLine(), ...turnOf(user("go"), assistant(text))], "html");
  expect(page).toContain(
    '<h4>Plan</h4><ol><li><strong>bold</strong> <code>&lt;b&gt;</code></li><li><a href="https://example.com/?a=1&amp;b=2" ' +
      'title="https://example.com/?a=1&amp;b=2" rel="noopener noreferrer nofollow">docs</a></li></ol>' +
      "<blockquote><p>quote &lt;x&gt;</p></blockquote><pre>let a = 1 &lt; 2;</pre>",
  );
});
