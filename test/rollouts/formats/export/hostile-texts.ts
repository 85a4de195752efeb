import type { OwnLine } from "../../../../src/messages/rollout-line.js";
import { assistant, call, output, thought, user } from "../../../compaction/items.js";
import { metaLine, turnOf } from "./export-helpers.js";

/** A conversation with the given text in every place that can hold a text. */
export function everywhere(text: string): OwnLine[] {
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

/** Texts a page must not interpret, and the origin they would load from. */
export function hostileTexts(origin: string): string[] {
  return [
    "<script>document.title = 'owned'</script>",
    "</title><script>alert(1)</script>",
    "</details></section></main><script>alert(1)</script>",
    `"><img src="${origin}/broken.png" onerror="document.title='owned'">`,
    `<link rel="stylesheet" href="${origin}/sheet.css"><link rel="prefetch" href="${origin}/next"><object data="${origin}/o">`,
    `<script src="${origin}/script.js"></script><video src="${origin}/v.mp4" poster="${origin}/p.png" autoplay></video>`,
    "' onmouseover='alert(1)",
    "<svg onload=\"document.title='owned'\"><a xlink:href=javascript:alert(1)>x</a></svg>",
    "[click](javascript:alert(1)) [x](data:text/html,<script>alert(1)</script>) [y](JaVaScRiPt:alert(1))",
    "[click](java&#115;cript:alert(1)) [z](\u0001javascript:alert(1)) <javascript:alert(1)>",
    '[a](https://example.com/"onclick="alert(1) "title\'>")',
    `![pixel](${origin}/pixel.png) ![i](data:image/svg+xml;base64,PHN2Zz4=)`,
    `<style>@import url(${origin}/x.css); body { background: url(${origin}/back.png) }</style>`,
    `<meta http-equiv="refresh" content="0;url=${origin}/refreshed">`,
    `<base href="${origin}/"><form action=x><iframe srcdoc="<script>alert(1)</script>"></iframe><iframe src="${origin}/frame">`,
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
}
