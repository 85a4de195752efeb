const section = /^\s*\[\s*([^\]"\s]*)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/;
const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)$/s;
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Returns the last `core.excludesFile` in a git configuration; included files are not followed. */
export function excludesFileIn(text: string): string | undefined {
  let isCore = false;
  let found: string | undefined;
  for (const line of logicalLines(text)) {
    const head = section.exec(line);
    if (head !== null) isCore = head[1]?.toLowerCase() === "core" && head[2] === undefined;
    const [, name, value] = setting.exec(head === null ? line : line.slice(head[0].length)) ?? [];
    if (isCore && name?.toLowerCase() === "excludesfile" && value !== undefined) found = valueOf(value);
  }
  return found;
}

/** Joins continued lines: a line that ends with an unescaped backslash continues on the next. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let open = "";
  for (const line of text.replace(/^\u{FEFF}/u, "").split(/\r?\n/)) {
    const isContinued = (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1 && !/^\s*[#;]/.test(open + line);
    open += isContinued ? line.slice(0, -1) : line;
    if (isContinued) continue;
    lines.push(open);
    open = "";
  }
  return open === "" ? lines : [...lines, open];
}

/** Removes surrounding space, a trailing comment, and quotes. */
function valueOf(text: string): string {
  let [value, isQuoted, kept] = ["", false, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      isQuoted = !isQuoted;
      kept = value.length;
    } else if (character === "\\") {
      at += 1;
      value += escapes[text.charAt(at)] ?? text.charAt(at);
      kept = value.length;
    } else if (!isQuoted && (character === "#" || character === ";")) break;
    else if (isQuoted || !/\s/.test(character)) {
      value += character;
      kept = value.length;
    } else if (value !== "") value += character;
  }
  return value.slice(0, kept);
}
