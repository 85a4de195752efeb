import { describe, expect, it } from "vitest";
import { version } from "../../src/version.js";
import { keys, TerminalSession } from "./support/session.js";

const size = { columns: 60, rows: 30 };
const rule = "─".repeat(size.columns);
const hour = 3_600_000;

const answer = `# Tides

Twice a day, **about** every \`745\` minutes:

- high water
  - then low water

\`\`\`js
const day = 24 * 60;
\`\`\`

| Harbour | Height |
| --- | ---: |
| Brest | 6.4 m |
| 界 | 10 m |

> Until the moon is back.`;

/** What stands above the editor, and the editor, without the status line. */
function rows(session: TerminalSession): string[] {
  return session.screen.slice(0, -1);
}

describe("the whole screen", () => {
  it("greets above an empty editor", async () => {
    const session = await TerminalSession.open([], { size, script: [{ text: "Hello." }] });
    await session.shows("for the palette");
    expect(rows(session)).toEqual([`cody ${version}  /help for commands, ctrl-k for the palette`, "", rule, "›"]);
    expect(session.emulator.cursor).toEqual({ row: 3, column: 2 });
    expect(session.emulator.attributesOf(`cody ${version}`).bold).toBe(true);
  });

  it("shows an answer with a list, code and a table", async () => {
    const session = await TerminalSession.open([], { size, script: [{ text: answer, deltas: 40, delayMs: 5 }] });
    await session.enter("tell me");
    await session.shows("Until the moon is back.");
    await session.program.until("ends the turn", () => !session.text.includes("esc to interrupt"));
    expect(rows(session).slice(2)).toEqual([
      "› tell me",
      "",
      "Tides",
      "",
      "Twice a day, about every 745 minutes:",
      "",
      "• high water",
      "  ◦ then low water",
      "",
      "  const day = 24 * 60;",
      "",
      "Harbour │ Height",
      "────────┼───────",
      "Brest   │  6.4 m",
      "界      │   10 m",
      "",
      "│ Until the moon is back.",
      "",
      rule,
      "›",
    ]);
    const { emulator } = session;
    expect(emulator.attributesOf("Tides").bold).toBe(true);
    expect(emulator.attributesOf("about").bold).toBe(true);
    expect(emulator.attributesOf("Harbour").bold).toBe(true);
    expect(emulator.attributesOf("const").foreground).not.toBe(emulator.attributesOf("day = 24").foreground);
  });

  it("shows what has arrived of an answer, and what it waits for", async () => {
    // The second half of the text never arrives.
    const text = `A **paragraph** that has ended.\n\nAnother one with \`code\`${" and more".repeat(8)}`;
    const session = await TerminalSession.open([], { size, script: [{ text, deltas: 2, delayMs: hour }] });
    await session.enter("tell me");
    await session.shows("Another one");
    await session.shows("esc to interrupt");
    const shown = rows(session);
    expect(shown.slice(2, 6)).toEqual(["› tell me", "", "A paragraph that has ended.", ""]);
    expect(shown[6]).toMatch(/^Another one with code?/);
    expect(shown.slice(7).map((row) => row.replace(/^\S+ (Answering).*/, "$1"))).toEqual([
      "",
      "Answering",
      "",
      rule,
      "›",
    ]);
    expect(session.emulator.attributesOf("paragraph").bold).toBe(true);
    session.type(keys.escape);
    await session.shows("Interrupted.");
  });

  it("keeps the cursor and the rows in place with wide characters", async () => {
    const session = await TerminalSession.open([], {
      size: { ...size, columns: 20 },
      script: [{ text: "界".repeat(15) }],
    });
    session.type("界👍é界界界界界界");
    await session.shows("› 界👍é界界界界界界");
    expect(session.emulator.cursor.column).toBe(19);
    session.type("界");
    await session.shows("\n  界");
    expect(session.emulator.cursor.column).toBe(4);
    session.type(keys.enter);
    await session.shows("界".repeat(10));
    await session.prompts();
    expect(session.screen).toContain("界".repeat(10));
    expect(session.screen).toContain("界".repeat(5));
    expect(session.screen.filter((row) => row.startsWith("──"))).toEqual(["─".repeat(20)]);
  });
});
