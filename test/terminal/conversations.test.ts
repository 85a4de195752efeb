import { describe, expect, it } from "vitest";
import { Cli } from "../support/cli.js";
import { keys, TerminalSession } from "./support/session.js";

describe("several conversations on the screen", () => {
  it("keep running out of sight, are marked as unread, and can be switched to", async () => {
    const session = await TerminalSession.open([], {
      script: [{ text: "one two three", deltas: 3, delayMs: 400 }, { text: "Second answer." }],
      env: { CODY_TERMINAL_NOTIFICATIONS: "bell" },
    });
    await session.enter("first question");
    await session.shows("Answering");
    await session.enter("/new");
    await session.shows("2 new conversation");
    await session.shows("1 running");
    await session.prompts();
    await session.shows("1 waiting for you");
    await session.enter("/ps");
    await session.shows("unread  first question");
    session.type(keys.alt("1"));
    await session.shows("one two three");
    await session.hides("waiting for you");
    session.type(keys.alt("n"));
    await session.prompts();
    await session.enter("second question");
    await session.shows("Second answer.");
    expect(await session.cli.ids()).toHaveLength(2);
  });

  it("report an approval that one out of sight needs", async () => {
    const command = ["sh", "-c", "touch file"];
    const session = await TerminalSession.open([], {
      script: [{ calls: [{ name: "shell", arguments: { command } }] }, { text: "Touched." }],
    });
    session.type(`go${keys.enter}`);
    await session.enter("/new");
    await session.shows("1 waiting for you");
    await session.prompts();
    session.type(keys.alt("1"));
    await session.shows("Run this command in");
    await session.shows("↑↓ enter");
    session.type("y");
    await session.shows("Touched.");
    expect(session.mock?.requests).toHaveLength(2);
  });

  it("are resumed with their last turns and their tools", async () => {
    const cli = await Cli.open({ spawned: true });
    await cli.run(["chat", "my name is Alice"]);
    const session = await TerminalSession.open(["resume"], { cli });
    await session.shows("Resumed conversation");
    expect(session.text).toContain("› my name is Alice");
    expect(session.text).toContain("Noted: your name is Alice.");
    await session.enter("What is my name?");
    await session.shows("You told me: your name is Alice.");
  });
});
