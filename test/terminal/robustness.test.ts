import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cli } from "../support/cli.js";
import { keys, TerminalSession } from "./support/session.js";

/** By the formula of the WCAG. */
function contrastToWhite(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\da-f]{2}/g) ?? []).map((hex) => {
    const part = Number.parseInt(hex, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

const restored = { bracketedPaste: false, focusReports: false, wraps: true };

describe("the terminal", () => {
  it.each(["SIGTERM", "SIGHUP"] as const)("is restored after %s during a turn", async (signal) => {
    const session = await TerminalSession.open([], { script: [{ text: "one two", delayMs: 3_600_000 }] });
    await session.enter("begin");
    await session.shows("Answering");
    session.program.kill(signal);
    expect(await session.ends()).toBe(signal === "SIGTERM" ? 143 : 129);
    expect(session.emulator.modes).toMatchObject(restored);
    expect(session.emulator.isCursorShown).toBe(true);
  });

  it("is repaired by the next start after kill -9", async () => {
    const cli = await Cli.open({ spawned: true });
    const killed = await TerminalSession.open([], { cli });
    killed.program.kill("SIGKILL");
    await killed.program.ended;
    const left = killed.emulator.received;
    const next = await TerminalSession.open([], { cli });
    await next.emulator.write(left);
    next.type(keys.ctrlD);
    await next.ends();
    expect(next.emulator.modes).toMatchObject(restored);
  });

  it.each([20, 40, 200])("of %i columns shows whole lines", async (columns) => {
    const session = await TerminalSession.open([], {
      size: { columns, rows: 30 },
      script: [{ text: "Some **words** and\n\n| a | b |\n| --- | --- |\n| 1 | 界 |\n\n```ts\nconst x = 1;\n```\n" }],
    });
    session.type("hello");
    await session.shows("› hello");
    session.type(keys.enter);
    await session.shows("const x = 1;");
    await session.prompts();
    const rules = session.screen.filter((line) => /^─+$/.test(line));
    expect(rules).toEqual(["─".repeat(columns)]);
  });

  it("is redrawn without broken lines when its size changes while an answer streams", async () => {
    const text = Array.from({ length: 60 }, (_line, index) => `word${index}`).join(" ");
    const session = await TerminalSession.open([], { script: [{ text, deltas: 60, delayMs: 20 }] });
    await session.enter("begin");
    await session.shows("word3");
    session.resize({ columns: 50 });
    await session.shows("word20");
    session.resize({ columns: 100, rows: 20 });
    await session.shows("word59");
    await session.prompts();
    expect(session.screen.filter((line) => line.startsWith("──"))).toEqual(["─".repeat(100)]);
    expect(session.screen.filter((line) => line.startsWith("›"))).toHaveLength(2);
  });

  it("gets no colour with NO_COLOR, and symbols carry the meaning", async () => {
    const session = await TerminalSession.open([], { env: { NO_COLOR: "1" } });
    await session.enter("read nothing.txt");
    await session.shows("nothing.txt");
    await session.prompts();
    // oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
    expect(session.emulator.received).not.toMatch(/\u001b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7])[0-9;:]*m/);
  });

  it("has readable colours when it reports a light background", async () => {
    const patch = "*** Begin Patch\n*** Add File: new.js\n+const x = 'text'; // why\n*** End Patch";
    const session = await TerminalSession.open(["--approval-policy", "never", "--sandbox", "danger-full-access"], {
      size: { columns: 90, rows: 60 },
      env: { COLORTERM: "truecolor" },
      background: "rgb:ffff/ffff/ffff",
      script: [
        { reasoning: "Why not.", calls: [{ name: "apply_patch", input: patch }] },
        {
          text: "# Title\n\n`code` and [a link](https://example.com)\n\n```js\nconst y = 1; // two\n```\n\n> quoted\n",
        },
      ],
    });
    await session.enter("go");
    await session.shows("quoted");
    await session.shows("Changes This Turn");
    await session.prompts();
    await session.enter("/nothing");
    await session.shows("Unknown command");
    const colours = new Set(
      session.emulator.cells().flatMap((row) => row.map(({ attributes }) => attributes.foreground)),
    );
    colours.delete(undefined);
    expect(colours.size).toBeGreaterThan(6);
    expect([...colours].filter((colour) => contrastToWhite(String(colour)) < 4.5)).toEqual([]);
  });

  it("takes no control sequences from models, tools and files", async () => {
    const session = await TerminalSession.open(["--approval-policy", "never", "--sandbox", "danger-full-access"], {
      script: [
        { calls: [{ name: "shell", arguments: { command: ["printf", "a\\033[2Jb\\033]0;title\\007c"] } }] },
        { text: "Text \u001b[31mred\u001b]52;c;aGVsbG8=\u0007 end." },
      ],
    });
    await session.enter("go");
    await session.shows("end.");
    await session.prompts();
    expect(session.emulator.received).not.toContain("\u001b[2J");
    expect(session.emulator.received).not.toContain("\u001b]0;");
    expect(session.emulator.received).not.toContain("\u001b]52;");
    expect(session.text).toContain("› go");
  });

  it("is lent to the editor of the user", async () => {
    const cli = await Cli.open({ spawned: true });
    const editor = join(cli.project, "editor.sh");
    await writeFile(editor, '#!/bin/sh\necho "edited $(cat "$1")" > "$1.new" && mv "$1.new" "$1"\n');
    await chmod(editor, 0o755);
    const session = await TerminalSession.open([], { cli, env: { EDITOR: editor } });
    session.type("text");
    await session.shows("› text");
    session.type(keys.ctrlG);
    await session.shows("› edited text");
    expect(session.emulator.modes.bracketedPaste).toBe(true);
  });

  it("shows full outputs in a pager and returns to the transcript", async () => {
    const script = "i=0; while test $i -lt 100; do i=$((i+1)); echo line $i; done";
    const session = await TerminalSession.open(["--approval-policy", "never", "--sandbox", "danger-full-access"], {
      script: [{ calls: [{ name: "shell", arguments: { command: ["sh", "-c", script] } }] }, { text: "Counted." }],
    });
    await session.enter("count");
    await session.shows("Counted.");
    await session.prompts();
    session.type(keys.ctrlO);
    await session.shows("line 100");
    expect(session.emulator.isAlternate).toBe(true);
    session.type("q");
    await session.shows("Counted.");
    expect(session.emulator.isAlternate).toBe(false);
  });

  it("runs a command of the user after !", async () => {
    const session = await TerminalSession.open(["--approval-policy", "never", "--sandbox", "danger-full-access"]);
    await session.enter("!echo 'from the shell' > file; cat file; exit 3");
    await session.shows("\nfrom the shell\n");
    await session.shows("exit code 3");
    await session.prompts();
    expect(await readFile(join(session.cli.project, "file"), "utf8")).toBe("from the shell\n");
  });
});

describe("the plain prompt", () => {
  it("uses words, no colours and nothing that is redrawn", async () => {
    const session = await TerminalSession.open(["--plain"], { isOther: true, script: [{ text: "Hello there." }] });
    await session.shows("Type /help for commands.");
    session.type(`hi${keys.enter}`);
    await session.shows("Hello there.");
    session.type(`/modell${keys.enter}`);
    await session.shows("Error: Unknown command /modell. Did you mean /model?");
    session.type(`/theme${keys.enter}`);
    await session.shows("Error: /theme needs the interactive screen.");
    session.type(`/exit${keys.enter}`);
    expect(await session.ends()).toBe(0);
    expect(session.emulator.received).not.toMatch(/[✗✓›⠋─│]/);
    expect(session.emulator.received).not.toContain("\u001b[?2026h");
  });
});
