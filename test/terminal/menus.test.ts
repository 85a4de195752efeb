import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import { Cli } from "../support/cli.js";
import { keys, TerminalSession } from "./support/session.js";

const adding = (name: string): MockReply => ({
  calls: [{ name: "apply_patch", input: `*** Begin Patch\n*** Add File: ${name}\n+text\n*** End Patch` }],
});

describe("menus of the screen", () => {
  it("describe the commands, and Enter runs the selected one", async () => {
    const session = await TerminalSession.open();
    session.type("/st");
    await session.shows("Show the conversation's id, model");
    session.type(keys.enter);
    await session.shows("Provider: offline (offline)");
    expect(session.text).toContain("› /status");
  });

  it("suggest the command that was probably meant", async () => {
    const session = await TerminalSession.open();
    await session.enter("/modell");
    await session.shows("Unknown command /modell.");
    expect(session.text).toContain("Did you mean /model?");
  });

  it("name files of the project after @", async () => {
    const cli = await Cli.open({ spawned: true });
    await mkdir(join(cli.project, "src"));
    await writeFile(join(cli.project, "src", "parser.ts"), "");
    const session = await TerminalSession.open([], { cli, script: [{ text: "Seen." }] });
    session.type("look at @pars");
    await session.shows("src/parser.ts");
    session.type(keys.tab);
    await session.shows("› look at @src/parser.ts");
    session.type(keys.enter);
    await session.shows("Seen.");
    expect(JSON.stringify(session.mock?.requests[0]?.body)).toContain("look at @src/parser.ts");
  });

  it("change the model of the next turn", async () => {
    const session = await TerminalSession.open([], { script: [{ text: "Hello." }] });
    await session.enter("/model gpt-4.1");
    await session.shows("Model of the next turn: gpt-4.1");
    await session.enter("hi");
    await session.shows("Hello.");
    expect(session.mock?.requests[0]?.body).toMatchObject({ model: "gpt-4.1" });
  });

  it("change settings to the value chosen in a list", async () => {
    const session = await TerminalSession.open([], { script: [{ text: "Hello." }] });
    const choose = async (command: string, title: string, filter: string): Promise<void> => {
      await session.enter(command);
      await session.shows(title);
      session.type(filter + keys.enter);
    };
    await choose("/sandbox", "What commands may access", "full");
    await session.shows("Sandbox of the next turn: danger-full-access");
    await choose("/approvals", "When cody asks for approval", "never");
    await session.shows("Approvals: never");
    await choose("/model", "Model of openai", "gpt-4.1-mini");
    await session.shows("Model of the next turn: gpt-4.1-mini");
    await session.enter("hi");
    await session.shows("Hello.");
    expect(session.mock?.requests[0]?.body).toMatchObject({ model: "gpt-4.1-mini" });
    await choose("/provider", "no key", "offline");
    await session.shows("Provider: offline (offline)");
  });

  it("open the palette with Ctrl-K", async () => {
    const session = await TerminalSession.open();
    session.type(keys.ctrlK);
    await session.shows("/help");
    session.type("cost");
    await session.shows("Show tokens and cost");
    session.type(keys.enter);
    await session.shows("No tokens used yet.");
    expect(session.text).toContain("› /cost");
  });

  it("continue another conversation, found by its words, with its last turns", async () => {
    const cli = await Cli.open({ spawned: true });
    await cli.run(["chat", "my name is Alice"]);
    await cli.run(["new"]);
    await cli.run(["chat", "what is 6 * 7?"]);
    const session = await TerminalSession.open([], { cli });
    await session.enter("/resume");
    await session.shows("my name is Alice");
    session.type("alice");
    await session.hides("what is 6 * 7?");
    session.type(keys.enter);
    await session.shows("Resumed conversation");
    await session.shows("Noted: your name is Alice.");
    await session.enter("What is my name?");
    await session.shows("You told me: your name is Alice.");
    expect(await cli.ids()).toHaveLength(2);
  });

  it("go back to a turn in a copy", async () => {
    const session = await TerminalSession.open();
    await session.enter("my name is Alice");
    await session.shows("Noted: your name is Alice.");
    await session.enter("my name is Bob");
    await session.shows("Noted: your name is Bob.");
    await session.enter("/tree");
    await session.shows("1  my name is Alice");
    session.type(keys.down + keys.enter);
    await session.shows("After turn 1");
    session.type(keys.enter);
    await session.shows("Continued after turn 1 in a copy");
    await session.enter("What is my name?");
    await session.shows("You told me: your name is Alice.");
    expect(await session.cli.ids()).toHaveLength(2);
  });

  it("go back to a turn and revert the files since", async () => {
    const session = await TerminalSession.open([], {
      size: { rows: 50 },
      script: [adding("one.txt"), { text: "Written one." }, adding("two.txt"), { text: "Written two." }],
    });
    for (const name of ["one", "two"]) {
      await session.enter(`write ${name}`);
      await session.shows("Make these changes in");
      await session.shows("↑↓ enter");
      session.type("y");
      await session.shows(`Written ${name}.`);
      await session.prompts();
    }
    await session.enter("/tree");
    await session.shows("1  write one");
    session.type(keys.down + keys.enter);
    await session.shows("revert the file changes since (1 turn)");
    session.type(keys.down + keys.enter);
    await session.shows("Continued after turn 1 in a copy");
    expect(session.screen).toContain("  two.txt");
    expect(await readdir(session.cli.project)).toContain("one.txt");
    expect(await readdir(session.cli.project)).not.toContain("two.txt");
  });
});
