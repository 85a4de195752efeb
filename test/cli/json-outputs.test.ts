import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

const full = ["--sandbox", "danger-full-access", "--approval-policy", "never"];

/** Commands in an order in which each finds what it needs; `ID` is the conversation's id, `TRASHED` that of a deleted one. */
const commands: readonly (readonly string[])[] = [
  ["set-provider", "offline"],
  ["set-auth", "openai-api-key"],
  ["auth", "logout"],
  ["auth", "status"],
  ["provider", "list"],
  ["models"],
  ["config"],
  ["config", "--explain"],
  ["config", "set", "model", "offline"],
  ["config", "get", "model"],
  ["config", "unset", "model"],
  ["config", "path"],
  ["chat", "write a.txt: hello", ...full],
  ["exec", "what is 2+2?"],
  ["exec", "read a.txt", "--ephemeral"],
  ["diff", "ID"],
  ["undo", "ID"],
  ["undo", "ID", "--yes"],
  ["list"],
  ["list", "--limit", "1"],
  ["search", "hello"],
  ["index"],
  ["index", "status"],
  ["stats"],
  ["rename", "ID", "greeting"],
  ["pin", "ID"],
  ["unpin", "ID"],
  ["context", "ID"],
  ["compact", "--dry-run", "-r", "ID"],
  ["compact", "-r", "ID"],
  ["resume", "ID"],
  ["fork", "ID"],
  ["conversation", "show", "ID"],
  ["export", "ID"],
  ["export", "--all"],
  ["check", "ID"],
  ["repair", "ID"],
  ["output", "ID"],
  ["scrub", "ID"],
  ["clean", "--dry-run"],
  ["clean"],
  ["delete", "TRASHED"],
  ["undelete"],
  ["undelete", "TRASHED"],
  ["delete", "TRASHED"],
  ["clean", "--trash"],
  ["relink"],
  ["knowledge", "add", "tests run with npm test"],
  ["knowledge", "add", "use spaces"],
  ["knowledge", "remove", "KNOWLEDGE"],
  ["knowledge", "list"],
  ["knowledge", "export"],
  ["knowledge", "export", "--output", "knowledge.jsonl"],
  ["knowledge", "import", "knowledge.jsonl"],
  ["knowledge", "prune", "--dry-run"],
  ["knowledge", "prune"],
  ["permissions", "allow", "npm test"],
  ["permissions"],
  ["permissions", "test", "npm test"],
  ["permissions", "import", "settings.json"],
  ["permissions", "remove", "npm test"],
  ["trust"],
  ["trust", "--list"],
  ["trust", "--undo"],
  ["mcp", "add", "mine", "--url", "http://127.0.0.1:9/"],
  ["mcp"],
  ["mcp", "test", "mine"],
  ["mcp", "remove", "mine"],
  ["hooks"],
  ["sandbox"],
  ["doctor"],
  ["completion", "man"],
  ["run", "tasks.jsonl"],
  ["ps"],
  ["approvals"],
  ["new"],
];

// Cli.run compares every output of --json with docs/cli-json.md, here and in all other tests.
test("every command prints what docs/cli-json.md says", async () => {
  const cli = await Cli.open();
  await writeFile(join(cli.project, "tasks.jsonl"), '{"prompt":"What is 2+2?"}\n');
  await writeFile(join(cli.project, "settings.json"), '{"permissions":{"allow":["Bash(npm run build)","Task"]}}');
  let ids: readonly string[] = [];
  let knowledge = "";
  for (const command of commands) {
    const [id = "", trashed = ""] = ids;
    const args = command.map((word) => ({ ID: id, TRASHED: trashed, KNOWLEDGE: knowledge })[word] ?? word);
    const { stdout, stderr } = await cli.run([...args, "--json"]);
    expect({ command, stdout, stderr }).toMatchObject({ stdout: expect.stringMatching(/^[[{"\dn]/) });
    if (command[0] === "chat" || command[0] === "exec") ids = (await cli.ids()).toSorted();
    if (command[1] === "add") knowledge = (JSON.parse(stdout) as { readonly id?: string }).id ?? "";
  }
});
