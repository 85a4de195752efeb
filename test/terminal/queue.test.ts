import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keys, TerminalSession } from "./support/session.js";

/** A model that answers the first request word by word until it is interrupted. */
async function working(...texts: string[]): Promise<TerminalSession> {
  const script = [{ text: "one two", delayMs: 3_600_000 }, ...texts.map((text) => ({ text }))];
  const session = await TerminalSession.open([], { script });
  await session.enter("begin");
  await session.shows("Answering");
  return session;
}

describe("what is sent while a turn runs", () => {
  it("is shown while it waits, and returns to the editor with an interrupt", async () => {
    const session = await working("Third.");
    await session.enter("steered");
    await session.prompts();
    session.type("queued");
    await session.shows("› queued");
    session.type(keys.tab);
    await session.prompts();
    await session.shows("queued");
    expect(session.screen.findIndex((line) => line.includes("steered"))).toBeLessThan(
      session.screen.findIndex((line) => line.includes("queued")),
    );
    session.type(keys.escape);
    await session.shows("Interrupted.");
    await session.shows("› steered");
    expect(session.screen.find((line) => line.trim() === "queued")).toBeDefined();
    session.type(keys.enter);
    await session.shows("Third.");
    expect(JSON.stringify(session.mock?.requests[1]?.body)).toContain("steered\\nqueued");
  });

  it("is shown and returned too if it is a shell command", async () => {
    const session = await working();
    await session.enter("!touch file");
    await session.shows("queued   !touch file");
    session.type(keys.escape);
    await session.shows("Interrupted.");
    await session.shows("› !touch file");
    await expect(access(join(session.cli.project, "file"))).rejects.toThrow("ENOENT");
  });

  it("is taken back with Up in an empty editor", async () => {
    const session = await working();
    await session.enter("not yet");
    await session.prompts();
    session.type(keys.up);
    await session.shows("› not yet");
    session.type(keys.ctrlU);
    await session.prompts();
    expect(session.text).not.toContain("not yet");
  });

  it("reaches the running turn before its next step", async () => {
    const command = ["sh", "-c", "until test -e go; do sleep 0.1; done"];
    const session = await TerminalSession.open(["--approval-policy", "never", "--sandbox", "danger-full-access"], {
      script: [{ calls: [{ name: "shell", arguments: { command } }] }, { text: "Understood." }],
    });
    await session.enter("wait");
    await session.shows("$ sh -c");
    await session.enter("and be brief");
    await session.prompts();
    await session.shows("and be brief");
    await writeFile(join(session.cli.project, "go"), "");
    await session.shows("Understood.");
    expect(session.mock?.requests).toHaveLength(2);
    expect(JSON.stringify(session.mock?.requests[1]?.body)).toContain("and be brief");
  });
});
