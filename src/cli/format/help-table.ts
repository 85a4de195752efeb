export type HelpRow = readonly [name: string, description: string];

const indent = "  ";
/** In a narrower second column hardly two words stand side by side: what is said of a name goes below it. */
const minRoom = 30;

/** Names and what is said of each; in a terminal, which has columns, broken between words. */
export function helpTable(rows: readonly HelpRow[], columns: number | undefined): string[] {
  const width = indent.length + Math.max(...rows.map(([name]) => name.length)) + indent.length;
  const room = columns === undefined ? Infinity : columns - width;
  if (room < minRoom) return rows.flatMap(([name, description]) => [indent + name, ...below(description, columns)]);
  return rows.flatMap(([name, description]) =>
    brokenLines(description, room).map((line, index) => (index === 0 ? indent + name : "").padEnd(width) + line),
  );
}

function below(description: string, columns = Infinity): string[] {
  const deep = indent.repeat(3);
  return brokenLines(description, columns - deep.length).map((line) => deep + line);
}

/** The words of a text in lines of at most so many characters; a longer word has a line for itself. */
export function brokenLines(text: string, maxChars: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > maxChars) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
