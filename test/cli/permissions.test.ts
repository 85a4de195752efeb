import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

test("rules are added, listed, tested and removed", async () => {
  const cli = await Cli.open();
  expect((await cli.run(["permissions"])).stdout).toBe("No rules. To add one: cody permissions allow 'npm test'\n");
  const added = await cli.run(["permissions", "allow", "seq", "*", "--match", "seq 1", "--not-match", "sequence"]);
  expect(added).toMatchObject({ code: 0, stdout: "✓ Added: allow seq *\n" });
  expect((await cli.run(["permissions", "allow", "seq *"])).stdout).toBe("Already there: allow seq *\n");
  await cli.run(["permissions", "deny", "git push *", "--project"]);
  expect((await cli.run(["permissions", "list"])).stdout).toBe(
    `allow  seq *  (permissions.json)\ndeny   git push *  (permissions.json, projects, ${cli.project})\n`,
  );
  expect((await cli.run(["permissions", "test", "seq 1 | seq 2"])).stdout).toBe(
    "runs without a question, outside a sandbox\n",
  );
  expect((await cli.run(["permissions", "test", "seq 1 > x"])).stdout).toBe(
    "needs approval, outside a sandbox\nbecause: no sandbox: every command needs approval\n",
  );
  expect(JSON.parse((await cli.run(["permissions", "test", "git push", "--json"])).stdout)).toEqual({
    decision: "refuse",
    reason: `the rule "git push *" of permissions.json, projects, ${cli.project} denies it`,
  });
  expect((await cli.run(["permissions", "remove", "git push *"])).stderr).toContain(
    "For a rule of this project, add --project",
  );
  expect((await cli.run(["permissions", "remove", "git push *", "--project"])).code).toBe(0);
  expect((await cli.run(["permissions", "remove", "seq *"])).stdout).toBe("✓ Removed: allow seq *\n");
  expect((await cli.run(["permissions"])).stdout).toContain("No rules.");
});

test("a bad rule or example is refused, and a broken file is reported and left alone", async () => {
  const cli = await Cli.open();
  const env = await cli.run(["permissions", "allow", "env *"]);
  expect(env).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("only a rule for one exact command can allow it"),
  });
  const example = await cli.run(["permissions", "deny", "git push *", "--match", "git pull"]);
  expect(example.stderr).toContain('its example "git pull" does not match');
  expect(await cli.run(["permissions", "forbid", "ls"])).toMatchObject({ code: 2 });
  await mkdir(cli.home, { recursive: true });
  await writeFile(join(cli.home, "permissions.json"), "{");
  expect(await cli.run(["permissions"])).toMatchObject({ code: 1, stderr: expect.stringContaining("invalid JSON") });
  expect((await cli.run(["permissions", "test", "ls"])).stdout).toContain("the permission rules cannot be used");
  expect(await cli.run(["permissions", "allow", "ls"])).toMatchObject({ code: 1 });
  expect(await readFile(join(cli.home, "permissions.json"), "utf8")).toBe("{");
});

test("rules of Codex and Claude Code are imported where they have an equal", async () => {
  const cli = await Cli.open();
  const homes = { CODEX_HOME: join(cli.project, "codex"), CLAUDE_CONFIG_DIR: join(cli.project, "claude") };
  await mkdir(join(homes.CODEX_HOME, "rules"), { recursive: true });
  await mkdir(homes.CLAUDE_CONFIG_DIR);
  await writeFile(
    join(homes.CODEX_HOME, "rules/default.rules"),
    'prefix_rule(pattern=["git", ["log", "show"]])\nprefix_rule(pattern=["env"])\n',
  );
  const permissions = { allow: ["Bash(npm test:*)", "WebFetch"], deny: ["Read(~/x)"] };
  await writeFile(join(homes.CLAUDE_CONFIG_DIR, "settings.json"), JSON.stringify({ permissions }));
  const preview = await cli.run(["permissions", "import", "--dry-run"], { env: homes });
  expect(preview.stdout.split("\n")).toEqual([
    "✓ allow git log *",
    "✓ allow git show *",
    expect.stringMatching(/^✗ prefix_rule\(pattern=\["env"\]\): .*only a rule for one exact command can allow it$/),
    "✓ allow npm test *",
    "✗ WebFetch: cody has no tool WebFetch",
    "✓ deny read:~/x",
    "4 rules would be imported, 2 not",
    "",
  ]);
  expect((await cli.run(["permissions"])).stdout).toContain("No rules.");
  await cli.run(["permissions", "import"], { env: homes });
  expect(JSON.parse(await readFile(join(cli.home, "permissions.json"), "utf8"))).toEqual({
    allow: ["git log *", "git show *", "npm test *"],
    deny: ["read:~/x"],
  });
  expect((await cli.run(["permissions", "import"], { env: homes })).stdout).toContain("0 rules imported, 2 not");
});

test("--allow and --deny are rules for one run, and a bad one is a usage error", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["chat", "run seq 3", "--allow", "seq *"])).toMatchObject({ code: 0 });
  const denied = await cli.run(["chat", "run seq 3", "--deny", "seq *", "--sandbox", "danger-full-access"]);
  expect(denied.stdout).toContain('shell was refused: the rule "seq *" of this run denies it');
  const bad = await cli.run(["chat", "run seq 3", "--allow", "env *"]);
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining("--allow or --deny: allow rule") });
});
