import { describe, expect, it } from "vitest";
import { version } from "../../src/version.js";
import { keys, TerminalSession } from "./support/session.js";

describe("the interactive screen", () => {
  it("greets, answers, and exits with a hint how to continue", async () => {
    const session = await TerminalSession.open();
    await session.shows(`cody ${version}`);
    await session.shows("using the built-in offline");
    await session.enter("What is 6 * 7?");
    await session.shows("6 * 7 = 42");
    await session.enter("/exit");
    expect(await session.ends()).toBe(0);
    const [id = ""] = await session.cli.ids();
    expect(await session.cli.said(id)).toEqual(["What is 6 * 7?"]);
    expect(session.text).toContain(`To continue: cody resume ${id}`);
    expect(session.emulator.modes).toMatchObject({ bracketedPaste: false, focusReports: false });
  });

  it("streams an answer and shows the tool that runs, then what it did", async () => {
    const session = await TerminalSession.open([], {
      script: [
        { calls: [{ name: "shell", arguments: { command: ["sh", "-c", "echo first; cat go; echo last"] } }] },
        { text: "All **done**.", deltas: 4 },
      ],
    });
    await session.enter("do it");
    await session.shows("[y] yes, once");
    await session.shows("↑↓ enter");
    session.type("y");
    await session.shows("All done.");
    await session.prompts();
    expect(session.emulator.attributesOf("done").bold).toBe(true);
  });

  it("shows the changes of a turn, and all of them with line numbers and colours for /diff", async () => {
    const input = "*** Begin Patch\n*** Add File: new.txt\n+first\n+second\n*** End Patch";
    const session = await TerminalSession.open([], {
      size: { rows: 40 },
      script: [{ calls: [{ name: "apply_patch", input }] }, { text: "Written." }],
    });
    await session.enter("write it");
    await session.shows("↑↓ enter");
    session.type("y");
    await session.shows("Changes This Turn");
    await session.prompts();
    await session.enter("/diff");
    await session.shows("1 file changed, 2 additions");
    await session.prompts();
    const start = session.screen.lastIndexOf("1 file changed, 2 additions, 0 deletions");
    expect(session.screen.slice(start, start + 6)).toEqual([
      "1 file changed, 2 additions, 0 deletions",
      "",
      "new.txt (+2, -0)",
      "new file mode 100644",
      " 1 + first",
      " 2 + second",
    ]);
    const [added, number] = [session.emulator.attributesOf("+ second"), session.emulator.attributesOf("2 + second")];
    expect(added.foreground).toBeDefined();
    expect(added.foreground).not.toBe(number.foreground);
  });

  it("interrupts a turn with Escape and is usable again", async () => {
    const session = await TerminalSession.open([], {
      script: [{ text: "one two three", delayMs: 3_600_000 }, { text: "Better." }],
    });
    await session.enter("begin");
    await session.shows("Answering");
    session.type(keys.escape);
    await session.shows("Interrupted.");
    await session.enter("again");
    await session.shows("Better.");
    expect(session.mock?.requests).toHaveLength(2);
  });

  it("shows after a resume that a turn was interrupted", async () => {
    const script = [{ text: "one two three", delayMs: 3_600_000 }];
    const first = await TerminalSession.open([], { script });
    await first.enter("begin");
    await first.shows("Answering");
    first.type(keys.escape);
    await first.shows("Interrupted.");
    first.type(keys.ctrlD);
    await first.ends();
    const next = await TerminalSession.open(["resume", "--last"], { cli: first.cli, script });
    await next.shows("Resumed conversation");
    await next.prompts();
    expect(next.text).toContain("› begin\n\n· Interrupted.");
  });

  it("counts failed attempts in the live region, and leaves one line of them", async () => {
    const fault = { type: "status", status: 503, message: "busy", retryAfter: 0 } as const;
    const session = await TerminalSession.open([], {
      script: [{ fault }, { fault }, { fault }, { text: "Here I am." }],
    });
    await session.enter("begin");
    await session.shows("Here I am.");
    await session.prompts();
    expect(session.screen.filter((line) => line.includes("busy"))).toEqual([
      expect.stringMatching(/^! .*busy.* \(tried again 3 times\)$/),
    ]);
  });

  it("shows the failed attempt while it waits for the next one, and why it was interrupted", async () => {
    const fault = { type: "status", status: 503, message: "busy", retryAfter: 100 } as const;
    const session = await TerminalSession.open([], { script: [{ fault }] });
    await session.enter("begin");
    await session.shows("busy; retrying in 100 s (1/5)");
    expect(session.text).not.toContain("! ");
    session.type(keys.escape);
    await session.shows("! openai answered 503: busy\n· Interrupted.");
  });

  it("keeps what is visible in the scrollback when Ctrl-L clears the screen", async () => {
    const session = await TerminalSession.open([], { script: [{ text: "An answer to keep." }] });
    await session.enter("begin");
    await session.shows("An answer to keep.");
    await session.prompts();
    const before = session.emulator.transcript();
    session.type(`${keys.ctrlL}new text`);
    await session.program.until("is cleared", () => session.screen[2]?.startsWith("› new text") === true);
    const after = session.emulator.transcript();
    const answer = before.findIndex((line) => line.includes("An answer"));
    expect(after.slice(0, answer + 1)).toEqual(before.slice(0, answer + 1));
    expect(after.filter((line) => line.includes("─"))).toHaveLength(1);
  });

  it("exits with Ctrl-D at an empty prompt", async () => {
    const session = await TerminalSession.open();
    session.type(keys.ctrlD);
    expect(await session.ends()).toBe(0);
  });

  it("exits with Ctrl-C twice at an empty prompt", async () => {
    const session = await TerminalSession.open();
    session.type("text");
    await session.shows("› text");
    session.type(keys.ctrlC);
    await session.prompts();
    session.type(keys.ctrlC);
    await session.shows("Press Ctrl-C again to exit.");
    session.type(keys.ctrlC);
    expect(await session.ends()).toBe(130);
  });
});
