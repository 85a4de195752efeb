import { Editor, type EditorKeys } from "../../../src/cli/terminal/model/editor.js";
import { PromptHistory } from "../../../src/cli/terminal/model/prompt-history.js";
import { keyOf, typing } from "./keys.js";

/** A history that is not saved. */
export function historyOf(...texts: string[]): PromptHistory {
  const history = PromptHistory.open({ redactor: { redact: (text) => text }, now: () => 0 });
  for (const text of texts) history.add(text);
  return history;
}

/** An editor after a script of `press`. */
export function editorWith(script = "", keys: EditorKeys = "emacs", history = historyOf()): Editor {
  const editor = new Editor({ history, keys });
  press(editor, script);
  return editor;
}

/** Types a text, and presses the keys in angle brackets: `ab<left>c`. `<lt>` is `<`, and a line break is Ctrl-J. */
export function press(editor: Editor, script: string): string[] {
  return script.split(/(<[^<>]+>|\n)/).flatMap((part) => {
    const name = part === "\n" ? "ctrl+j" : /^<(.+)>$/.exec(part)?.[1]?.replace(/lt$/, "<");
    return (name === undefined ? typing(part) : [keyOf(name)]).map((key) => editor.press(key));
  });
}

/** The text as it is drawn in wide rows, with a bar at the cursor. */
export function shown(editor: Editor): string {
  const { rows, cursor } = editor.visibleRows({ columns: 1_000, maxRows: 1_000 });
  return rows.map((cells, index) => withBar(cells, index === cursor.row ? cursor.column : undefined)).join("\n");
}

function withBar(cells: readonly { readonly text: string; readonly width: number }[], column?: number): string {
  let width = 0;
  let text = "";
  for (const cell of cells) {
    text += (width === column ? "|" : "") + cell.text;
    width += cell.width;
  }
  return text + (width === column ? "|" : "");
}
