import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const now = () => new Date("2026-11-17T12:00:00.000Z");

async function projectWith(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder();
  await mkdir(join(root, ".git"));
  await mkdir(join(root, "src/deep"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  return root;
}

/** The paths and texts of the instruction files in a prompt. */
function filesIn(prompt: string | undefined): string[] {
  const [, blocks = ""] = /^[^]*?\n\n(Instructions from: [^]*?)\n\nYou have the tool/.exec(prompt ?? "") ?? [];
  return blocks.split(/\n\n(?=Instructions from: )/).filter((block) => block !== "");
}

test("the home's instruction file comes first, then those from the repository root down to the working folder", async () => {
  const root = await projectWith({
    "AGENTS.md": "root",
    "CLAUDE.md": "root for claude",
    "src/AGENTS.override.md": "src, mine",
    "src/AGENTS.md": "src",
    "src/deep/CLAUDE.md": "deep for claude",
  });
  const home = await temporaryFolder();
  await writeFile(join(home, "AGENTS.md"), "home");
  const codex = await temporaryFolder();
  await writeFile(join(codex, "AGENTS.md"), "codex");
  const provider = scripted([says("Yes"), says("Yes")]);
  const cwd = join(root, "src/deep");
  const { conversation } = await openConversation({ provider, cwd, home, env: { CODEX_HOME: codex } });
  await conversation.processMessage("Hello");
  const project = [
    `Instructions from: ${join(root, "AGENTS.md")}\nroot`,
    `Instructions from: ${join(root, "CLAUDE.md")}\nroot for claude`,
    `Instructions from: ${join(root, "src/AGENTS.override.md")}\nsrc, mine`,
    `Instructions from: ${join(root, "src/deep/CLAUDE.md")}\ndeep for claude`,
  ];
  expect(filesIn(provider.requests[0]?.instructions)).toEqual([
    `Instructions from: ${join(home, "AGENTS.md")}\nhome`,
    ...project,
  ]);
  await rm(join(home, "AGENTS.md"));
  await conversation.processMessage("And now?");
  expect(filesIn(provider.requests[1]?.instructions)).toEqual([
    `Instructions from: ${join(codex, "AGENTS.md")}\ncodex`,
    ...project,
  ]);
});

test("changed, added and removed instruction files take effect at the next turn", async () => {
  const root = await projectWith({ "AGENTS.md": "first" });
  const provider = scripted(Array.from({ length: 4 }, () => says("Yes")));
  const { conversation } = await openConversation({ provider, cwd: root });
  await conversation.processMessage("1");
  await writeFile(join(root, "AGENTS.md"), "second");
  await conversation.processMessage("2");
  await writeFile(join(root, "CLAUDE.md"), "third");
  await conversation.processMessage("3");
  await rm(join(root, "AGENTS.md"));
  await conversation.processMessage("4");
  const texts = provider.requests.map(({ instructions }) =>
    filesIn(instructions).map((block) => block.split("\n").slice(1).join("\n")),
  );
  expect(texts).toEqual([["first"], ["second"], ["second", "third"], ["third"]]);
});

test("instruction files are in the prompt before the first turn, and after a resume", async () => {
  const root = await projectWith({ "AGENTS.md": "Always be kind." });
  const provider = scripted([says("Yes"), says("Yes")]);
  const { manager, conversation, conversationId } = await openConversation({ provider, cwd: root });
  expect(JSON.stringify(conversation.getInitialContext())).toContain("Always be kind.");
  await conversation.processMessage("Hello");
  await conversation.shutdown();
  await writeFile(join(root, "AGENTS.md"), "Always be brief.");
  const resumed = await manager.resumeConversation(conversationId);
  expect(JSON.stringify(resumed.getInitialContext())).toContain("Always be brief.");
  await resumed.processMessage("Hello again");
  expect(provider.requests[1]?.instructions).toContain("Always be brief.");
});

test("after a compaction instruction files are still in the prompt and not in the summary", async () => {
  const root = await projectWith({ "AGENTS.md": "Always be kind." });
  const provider = scripted([says("Yes"), says("A summary."), says("Yes")]);
  const { conversation } = await openConversation({ provider, cwd: root });
  await conversation.processMessage("Hello");
  await conversation.compact();
  await conversation.processMessage("And now?");
  const last = provider.requests.at(-1);
  expect(last?.instructions).toContain("Always be kind.");
  expect(JSON.stringify(last?.input)).not.toContain("Always be kind.");
});

test("configured instructions replace the base prompt and follow the files", async () => {
  const root = await projectWith({ "AGENTS.md": "file" });
  const provider = scripted([says("Yes")]);
  const config = {
    systemPrompt: "You are terse.",
    instructions: ["Speak French.", "Really."],
    knowledge: { enabled: false },
  };
  const { conversation } = await openConversation({ provider, cwd: root, now, config });
  await conversation.processMessage("Hello");
  expect(provider.requests[0]?.instructions).toBe(
    [
      "You are terse.",
      `Current working directory: ${root}\nPlatform: ${process.platform}\nDate: 2026-11-17`,
      `Instructions from: ${join(root, "AGENTS.md")}\nfile`,
      "Speak French.",
      "Really.",
    ].join("\n\n"),
  );
});

test("unreadable instruction files do not stop a turn, and are warned about once", async () => {
  const root = await projectWith({ "src/AGENTS.md": "still here" });
  execFileSync("mkfifo", [join(root, "AGENTS.md")]);
  await symlink("/etc/passwd", join(root, "CLAUDE.md"));
  const provider = scripted([says("Yes"), says("Yes")]);
  const { manager } = await openManager({ providers: [provider], cwd: join(root, "src") });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "scripted" });
  const events = new EventLog(conversation);
  for (const text of ["one", "two"]) {
    await conversation.submit(text);
    await events.until("task_complete");
  }
  const warnings = events.seen.flatMap(({ msg }) => (msg.type === "warning" ? [msg.message] : []));
  expect(warnings).toEqual([
    `${join(root, "AGENTS.md")} is ignored: it is not a regular file`,
    `${join(root, "CLAUDE.md")} is ignored: it is a link to a path outside the project`,
  ]);
  expect(provider.requests[1]?.instructions).toContain("still here");
  expect(provider.requests[1]?.instructions).not.toContain("root:");
});

test("a turn in another folder gets that folder's instruction files", async () => {
  const [one, two] = [await projectWith({ "AGENTS.md": "one" }), await projectWith({ "AGENTS.md": "two" })];
  const provider = scripted([says("Yes"), says("Yes")]);
  const { conversation } = await openConversation({ provider, cwd: one });
  await conversation.processMessage("Hello");
  await conversation.submit({ type: "override_turn_context", cwd: two });
  await conversation.processMessage("There");
  expect(provider.requests[1]?.instructions).toContain(`Instructions from: ${join(two, "AGENTS.md")}\ntwo`);
  expect(provider.requests[1]?.instructions).not.toContain(`Instructions from: ${join(one, "AGENTS.md")}`);
});
