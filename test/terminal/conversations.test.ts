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

  it("keep their title, their last answer and their context when they are resumed", async () => {
    const cli = await Cli.open({ spawned: true });
    const script = [{ text: "The answer.", usage: { input_tokens: 100_000, output_tokens: 10 } }];
    const first = await TerminalSession.open([], { cli, script });
    await first.enter("the question");
    await first.shows("The answer.");
    await first.enter("/exit");
    await first.ends();
    const session = await TerminalSession.open([], { cli, script });
    await session.enter("/resume");
    await session.shows("type to filter");
    session.type(keys.enter);
    await session.shows("── 2 the question ──");
    await session.shows("Resumed conversation with 2 messages");
    await session.shows("25% of 400k");
    await session.enter("/copy");
    await session.shows("Sent the last answer to the terminal's clipboard (11 characters).");
    expect(session.emulator.received).toContain(Buffer.from("The answer.").toString("base64"));
  });

  it("are listed in columns", async () => {
    const session = await TerminalSession.open([], {
      script: [{ text: "one two three", delayMs: 3_600_000 }, { text: "Second answer." }],
    });
    await session.enter("a question that is longer than the other one");
    await session.shows("Answering");
    await session.enter("/new");
    await session.shows("2 new conversation");
    await session.enter("short");
    await session.shows("Second answer.");
    await session.prompts();
    await session.enter("/ps");
    await session.shows("* 2");
    const [first = "", second = ""] = session.screen.filter((row) => /^[ *] \d /.test(row));
    expect(second.indexOf("short")).toBe(first.indexOf("a question"));
    expect(second.indexOf("gpt-5")).toBe(first.indexOf("gpt-5"));
  });
});
