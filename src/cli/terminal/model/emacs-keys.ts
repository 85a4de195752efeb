import { type Editing, keyName, type NamedKey, typedCharacter } from "./editing.js";
import { spacedWordStart, wordEnd, wordStart } from "./words.js";

/** Returns false if the key has no meaning here. */
type Action = (editing: Editing) => boolean;

const undo: Action = ({ buffer }) => buffer.undo();
const redo: Action = ({ buffer }) => buffer.redo();
const left = always(({ buffer }) => buffer.moveTo(buffer.before()));
const right = always(({ buffer }) => buffer.moveTo(buffer.after()));
const wordLeft = always(({ buffer }) => buffer.moveTo(wordStart(buffer, buffer.cursor)));
const wordRight = always(({ buffer }) => buffer.moveTo(wordEnd(buffer, buffer.cursor)));
const home = always(({ buffer }) => buffer.moveTo(buffer.lineStart()));
const end = always(({ buffer }) => buffer.moveTo(buffer.lineEnd()));
const textStart = always(({ buffer }) => buffer.moveTo(0));
const textEnd = always(({ buffer }) => buffer.moveTo(buffer.text.length));
const up: Action = (editing) => editing.moveRow(-1);
const down: Action = (editing) => editing.moveRow(1);
const newLine = always(({ buffer }) => buffer.insert("\n"));

const deleteLeft: Action = ({ buffer }) => {
  const { cursor } = buffer;
  buffer.remove(buffer.before(cursor), cursor, "delete");
  return cursor > 0;
};

const deleteRight: Action = ({ buffer }) => {
  const { cursor, text } = buffer;
  buffer.remove(cursor, buffer.after(cursor), "delete");
  return cursor < text.length;
};

const killWordLeft = always(({ buffer, kills }) =>
  kills.kill(buffer.remove(wordStart(buffer, buffer.cursor), buffer.cursor), "before"),
);
const killSpacedWordLeft = always(({ buffer, kills }) =>
  kills.kill(buffer.remove(spacedWordStart(buffer, buffer.cursor), buffer.cursor), "before"),
);
const killWordRight = always(({ buffer, kills }) =>
  kills.kill(buffer.remove(buffer.cursor, wordEnd(buffer, buffer.cursor)), "after"),
);

/** At the end of a line, the line break. */
const killLineRight: Action = ({ buffer, kills }) => {
  const { cursor, text } = buffer;
  if (cursor === text.length) return false;
  const lineEnd = buffer.lineEnd();
  kills.kill(buffer.remove(cursor, lineEnd === cursor ? cursor + 1 : lineEnd), "after");
  return true;
};

const killLineLeft: Action = ({ buffer, kills }) => {
  const { cursor } = buffer;
  if (cursor === 0) return false;
  const lineStart = buffer.lineStart();
  kills.kill(buffer.remove(lineStart === cursor ? cursor - 1 : lineStart, cursor), "before");
  return true;
};

const yank: Action = ({ buffer, kills }) => {
  const text = kills.yank();
  if (text === undefined) return false;
  buffer.replace(buffer.cursor, buffer.cursor, text);
  return true;
};

const yankPop: Action = ({ buffer, kills }) => {
  const next = kills.yankPop();
  if (next === undefined) return false;
  buffer.replace(buffer.cursor - next.inserted.length, buffer.cursor, next.replacement);
  return true;
};

/** Exchanges the two characters before the cursor, or those around it. */
const transpose: Action = ({ buffer }) => {
  const lineEnd = buffer.lineEnd();
  const second = buffer.cursor === lineEnd ? buffer.before() : buffer.cursor;
  const first = buffer.before(second);
  if (second <= buffer.lineStart() || second === lineEnd) return false;
  const after = buffer.after(second);
  buffer.replace(first, after, buffer.text.slice(second, after) + buffer.text.slice(first, second));
  return true;
};

/** Of the word at or after the cursor. */
function changeCase(change: (word: string) => string): Action {
  return always(({ buffer }) => {
    const to = wordEnd(buffer, buffer.cursor);
    const from = wordStart(buffer, to);
    buffer.replace(Math.max(from, buffer.cursor), to, change(buffer.text.slice(Math.max(from, buffer.cursor), to)));
  });
}

const actions = new Map<string, Action>(
  Object.entries({
    left,
    "ctrl+b": left,
    right,
    "ctrl+f": right,
    "ctrl+left": wordLeft,
    "alt+left": wordLeft,
    "alt+b": wordLeft,
    "ctrl+right": wordRight,
    "alt+right": wordRight,
    "alt+f": wordRight,
    home,
    "ctrl+a": home,
    end,
    "ctrl+e": end,
    "ctrl+home": textStart,
    "alt+<": textStart,
    "ctrl+end": textEnd,
    "alt+>": textEnd,
    up,
    "ctrl+p": up,
    down,
    "ctrl+n": down,
    "ctrl+j": newLine,
    "alt+enter": newLine,
    "shift+enter": newLine,
    "ctrl+enter": newLine,
    backspace: deleteLeft,
    "shift+backspace": deleteLeft,
    "ctrl+h": deleteLeft,
    delete: deleteRight,
    "ctrl+d": deleteRight,
    "ctrl+w": killSpacedWordLeft,
    "alt+backspace": killWordLeft,
    "ctrl+backspace": killWordLeft,
    "alt+d": killWordRight,
    "alt+delete": killWordRight,
    "ctrl+delete": killWordRight,
    "ctrl+k": killLineRight,
    "ctrl+u": killLineLeft,
    "ctrl+y": yank,
    "alt+y": yankPop,
    "ctrl+t": transpose,
    "alt+u": changeCase((word) => word.toUpperCase()),
    "alt+l": changeCase((word) => word.toLowerCase()),
    "alt+c": changeCase((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()),
    // The same key with and without kitty's protocol, and what some keyboards have instead.
    "ctrl+_": undo,
    "ctrl+shift+-": undo,
    "ctrl+/": undo,
    "alt+_": redo,
    "alt+shift+-": redo,
    "ctrl+shift+z": redo,
  } satisfies Record<string, Action>),
);

/** Types a character or does what a key means to emacs and to most shells. Returns false if it means nothing here. */
export function pressEmacs(key: NamedKey, editing: Editing): boolean {
  const character = typedCharacter(key);
  if (character === undefined) return actions.get(keyName(key))?.(editing) ?? false;
  const { buffer } = editing;
  // A word and the spaces after it are one undo step.
  if (character !== " " && buffer.at(buffer.before()) === " ") buffer.endStep();
  buffer.insert(character, "type");
  return true;
}

function always(act: (editing: Editing) => void): Action {
  return (editing) => {
    act(editing);
    return true;
  };
}
