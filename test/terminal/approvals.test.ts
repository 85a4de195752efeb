import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import { keys, TerminalSession } from "./support/session.js";

const run = (script: string, id = "call_1"): NonNullable<MockReply["calls"]>[number] => ({
  name: "shell",
  id,
  arguments: { command: ["sh", "-c", script] },
});

/** Without a sandbox, every command needs approval. */
async function asked(...replies: MockReply[]): Promise<TerminalSession> {
  const session = await TerminalSession.open([], { script: replies });
  await session.enter("go");
  await session.shows("Run this command in");
  return session;
}

const armed = "↑↓ enter";

describe("an approval on the screen", () => {
  it("shows the exact command, and runs it after y", async () => {
    const session = await asked({ calls: [run("echo one > file")] }, { text: "Written." });
    await session.shows(armed);
    expect(session.text).toContain("sh -c 'echo one > file'");
    expect(session.emulator.isCursorShown).toBe(false);
    session.type("y");
    await session.shows("Written.");
    expect(await readFile(join(session.cli.project, "file"), "utf8")).toBe("one\n");
  });

  it("is not answered by what was typed ahead", async () => {
    const session = await TerminalSession.open([], { script: [{ calls: [run("touch file")] }, { text: "No." }] });
    session.type(`go${keys.enter}yes`);
    await session.shows("› yes");
    await session.shows("Run this command in");
    await session.shows("You are writing a message");
    session.type("y");
    await session.shows("› yesy");
    session.type(keys.tab);
    await session.shows(armed);
    session.type("n");
    await session.shows("No.");
    expect(session.text).toContain("› yesy");
    await expect(readFile(join(session.cli.project, "file"))).rejects.toThrow("ENOENT");
  });

  it("is not answered by a message that begins while it is open", async () => {
    const session = await asked({ calls: [run("touch file")] }, { text: "No." });
    await session.shows(armed);
    session.type("Only in any case");
    await session.shows("› Only in any case");
    await session.shows("You are writing a message");
    session.type(keys.tab);
    await session.shows(armed);
    session.type("n");
    await session.shows("No.");
    expect(session.text).toContain("› Only in any case");
  });

  it("is answered once by a key that repeats", async () => {
    const session = await asked({ calls: [run("touch file")] }, { text: "No." });
    await session.shows(armed);
    session.type("nnn");
    await session.shows("No.");
    expect(session.text).toContain("› nn");
    expect(session.text).not.toContain("✗");
  });

  it("sends what to do instead to the model", async () => {
    const session = await asked({ calls: [run("rm -rf build")] }, { text: "As you wish." });
    await session.shows(armed);
    session.type("i");
    await session.shows("What should it do instead?");
    await session.enter("clean it with make");
    await session.shows("As you wish.");
    expect(JSON.stringify(session.mock?.requests[1]?.body)).toContain("clean it with make");
  });

  it("covers such commands in the conversation after a", async () => {
    const session = await asked(
      { calls: [run("touch one")] },
      { calls: [run("touch one two", "call_2")] },
      { text: "Both done." },
    );
    await session.shows(armed);
    expect(session.text).toMatch(/\[?a\]? +yes, and commands that begin with touch/);
    session.type("a");
    await session.shows("Both done.");
    expect(session.text).not.toContain("Run this command in");
  });

  it("stops the turn with Escape", async () => {
    const session = await asked({ calls: [run("touch one")] });
    await session.shows(armed);
    session.type(keys.escape);
    await session.shows("Interrupted.");
    await session.prompts();
    expect(session.mock?.requests).toHaveLength(1);
  });

  it("shows the change of a patch as a diff", async () => {
    const patch = "*** Begin Patch\n*** Add File: ../outside.txt\n+first\n+second\n*** End Patch";
    const session = await TerminalSession.open([], {
      script: [{ calls: [{ name: "apply_patch", arguments: { input: patch } }] }, { text: "Fine." }],
    });
    await session.enter("go");
    await session.shows(armed);
    expect(session.text).toMatch(/1\s*\+\s*first/);
    session.type("n");
    await session.shows("Fine.");
  });
});
