export type HelpRow = readonly [name: string, description: string];

const indent = "  ";
/** If the second column would be narrower, descriptions are placed below the names. */
const minRoom = 30;

/** A table of names and descriptions, wrapped between words if the number of columns is known. */
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

/** Wraps a text into lines of at most `maxChars`. A longer word gets its own line. */
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
