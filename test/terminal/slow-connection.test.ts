import { describe, expect, it } from "vitest";
import { keys, TerminalSession, type SessionOptions } from "./support/session.js";

const [light, dark] = ["rgb:ffff/fafa/f0f0", "rgb:1e1e/1e1e/2e2e"];
const size = { columns: 80, rows: 30 };
const lightDim = "#676c78";

/** As over ssh with a round trip of 300 ms. */
function open(options: SessionOptions & { readonly args?: readonly string[] } = {}): Promise<TerminalSession> {
  return TerminalSession.open(options.args ?? [], { size, latencyMs: 150, background: dark, ...options });
}

/** cody, and then a program that shows what it reads. */
const thenCat = 'trap : TERM; "$@"; echo "after cody"; exec cat -v';

/** Resolves when the program has written the text, which is still on its way to the terminal. */
function written(session: TerminalSession, text: string): Promise<void> {
  return new Promise((resolve) => {
    let all = "";
    const remove = session.program.onOutput((part) => {
      all += part;
      if (!all.includes(text)) return;
      remove();
      resolve();
    });
  });
}

/** What the program after cody has read, up to a last line. */
async function readAfterwards(session: TerminalSession): Promise<string> {
  await session.shows("after cody");
  session.type("last line\r");
  await session.program.until("reads", () => session.screen.filter((line) => line.includes("last line")).length === 2);
  session.type(keys.ctrlD);
  await session.ends();
  return session.screen.slice(session.screen.findIndex((line) => line.includes("after cody")) + 1).join("\n");
}

describe("with a round trip of 300 ms to the terminal", () => {
  it("greets in the colours for the background of which the answer is late, and types none of it", async () => {
    const session = await open({ background: light, env: { COLORTERM: "truecolor" } });
    await session.shows("for the palette");
    expect(session.emulator.attributesOf("/help for commands").foreground).toBe(lightDim);
    await session.enter("hello");
    await session.shows("I heard: hello");
    expect(session.text).not.toMatch(/rgb|;c|\[\?/);
  });

  it.each(["a key", "SIGTERM"])(
    "leaves no answer of the terminal for the shell when %s ends it at once",
    async (end) => {
      const session = await open({ isOther: true, shell: thenCat });
      await written(session, "]11;?");
      if (end === "a key") session.program.arrive(keys.ctrlD);
      else process.kill(-session.program.pid, "SIGTERM");
      expect(await readAfterwards(session)).toBe("last line\nlast line");
    },
  );

  it("leaves no key in kitty's encoding for the shell", async () => {
    const session = await open({ shell: thenCat });
    session.type("\u001b[?1u\u001b[99;5u\u001b[99;5u");
    await written(session, "\u001b[<u");
    session.program.arrive("\u001b[99;5u");
    expect(await readAfterwards(session)).toBe("last line\nlast line");
  });

  it("gives no answer of the terminal to the editor of the user", async () => {
    const session = await open({ isOther: true, env: { EDITOR: 'sh -c "echo editing; head -n 1 | cat -v > \\$0"' } });
    await written(session, "]11;?");
    session.program.arrive(keys.ctrlG);
    await session.shows("editing");
    session.type("typed in the editor\r");
    await session.shows("› typed in the editor");
    expect(session.text).not.toContain("^[");
  });

  it("takes a paste in pieces as one, and keys between pieces as keys", async () => {
    const session = await open();
    session.paste("first line\nsecond line with 界 and 👍\nthird");
    session.type("\u001b[D\u001b[1;5D!\u001b[F?");
    await session.shows("third?");
    expect(session.screen.slice(-4, -1)).toEqual(["› first line", "  second line with 界 and 👍", "  !third?"]);
  });

  it("does not take an arrow for Escape while a turn runs, and interrupts it with Escape", async () => {
    const session = await open({ script: [{ text: "word ".repeat(2_000), deltas: 2_000, delayMs: 50 }] });
    await session.enter("begin");
    await session.shows("word word");
    session.type("ab\u001b[D\u001b[Dc\u001bOC\u001b[1;5Cd");
    await session.shows("› cabd");
    expect(session.text).not.toContain("Interrupted");
    session.type(keys.escape);
    await session.shows("Interrupted.");
    await session.shows("› cabd");
  });

  it("is redrawn without broken lines when its size changes", async () => {
    const env = { TERM_PROGRAM: "vscode" }; // The emulator breaks lines as its terminal does.
    const session = await open({ env, script: [{ text: "Hello. ".repeat(40) }] });
    await session.enter("begin");
    await session.shows("1% of");
    session.type("a");
    await session.shows("› a");
    session.resize({ columns: 50 });
    await session.shows(`\n${"─".repeat(50)}\n› a`);
    session.type(" message that needs more than one line of so few columns");
    await session.shows("columns");
    session.resize({ columns: 100 });
    await session.shows(`\n${"─".repeat(100)}\n› a message`);
    const rules = session.emulator.transcript().filter((line) => line.includes("─"));
    expect(rules).toEqual(["─".repeat(100)]);
  });
});
