import { expect, it } from "vitest";
import { KeyDecoder } from "../../src/cli/terminal/screen/key-decoder.js";
import { Painter } from "../../src/cli/terminal/screen/painter.js";
import { editorView } from "../../src/cli/terminal/view/editor.js";
import { editorWith } from "./support/editor.js";
import { Emulator } from "./support/emulator.js";
import { plainView } from "./support/view.js";

/** What a terminal shows after bytes of its keyboard have gone through the decoder, the editor and the painter. */
async function screenAfter(...chunks: string[]) {
  const emulator = new Emulator({ columns: 30, rows: 8 });
  const painter = new Painter(
    { columns: 30, rows: 8, reflow: "break", write: (text) => emulator.write(text) },
    { frameMs: 1 },
  );
  const editor = editorWith();
  const decoder = new KeyDecoder();
  for (const chunk of chunks) {
    for (const item of decoder.push(Buffer.from(chunk)))
      if (item.type === "key" || item.type === "paste") editor.press(item);
    painter.show(() => editorView(editor, plainView(30), { maxRows: 5 }));
    await painter.flushed();
  }
  return { rows: emulator.screen(), cursor: emulator.cursor };
}

it.each<[string, readonly string[], readonly string[], string]>([
  ["Shift-Enter of kitty", ["one\u001b[13;2utwo"], ["› one", "  two"], "1:5"],
  ["Shift-Enter of xterm", ["one\u001b[27;2;13~two"], ["› one", "  two"], "1:5"],
  ["Alt-Enter", ["one\u001b\rtwo"], ["› one", "  two"], "1:5"],
  ["Ctrl-J", ["one\ntwo"], ["› one", "  two"], "1:5"],
  ["backslash and Enter", ["one\\\rtwo"], ["› one", "  two"], "1:5"],
  ["Ctrl-Left and Ctrl-Delete", ["one two\u001b[1;5D\u001b[3;5~x"], ["› one x"], "0:7"],
  ["Alt-Backspace", ["one two\u001b\u007f"], ["› one"], "0:6"],
  ["undo as Ctrl-_ and as kitty reports it", ["one two\u001f", "\u001b[45;6u"], ["›"], "0:2"],
  ["redo as Alt-_", ["one two\u001f\u001b_\u001b\\x"], ["› one x"], "0:7"],
  ["a paste that would send and kill", ["\u001b[200~a\rb\u0015\u001b[201~c"], ["› a", "  b␕c"], "1:5"],
  ["a large paste", [`\u001b[200~${"x\n".repeat(30)}\u001b[201~ ok`], ["› [pasted 30 lines] ok"], "0:22"],
  ["wide characters and emoji", ["界👍e\u0301\u001b[D\u001b[D"], ["› 界👍e\u0301"], "0:4"],
  ["an emoji of several parts, typed", ["👨‍👩‍👧!\u001b[D\u007f"], ["› !"], "0:2"],
  ["a full row", ["x".repeat(28)], [`› ${"x".repeat(27)}`, "  x"], "1:3"],
  ["a row with room for the cursor only", ["x".repeat(27)], [`› ${"x".repeat(27)}`], "0:29"],
])("a terminal shows %s", async (_name, chunks, rows, cursor) => {
  const screen = await screenAfter(...chunks);
  expect([screen.rows, `${screen.cursor.row}:${screen.cursor.column}`]).toEqual([rows, cursor]);
});
