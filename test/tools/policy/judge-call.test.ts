import { link, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Access } from "../../../src/tools/tool.js";
import { judgeCall, type PolicyDecision } from "../../../src/tools/policy/approval-policy.js";
import { addProgram, policyWorld, type World } from "./policy-context.js";

const programs = ["ls", "cat", "git", "npm", "env", "rm"];

function sh(line: string, world: World, access: Partial<Access> = {}): Promise<PolicyDecision> {
  return argv(["sh", "-c", line], world, access);
}

async function argv(
  words: readonly string[],
  { context, workspace }: World,
  access: Partial<Access> = {},
): Promise<PolicyDecision> {
  const full = { type: "command", isEscalated: false, ...access } as Access;
  const command = { argv: words, cwd: workspace, access: full };
  return await judgeCall({ tool: "shell", readOnly: false, command }, context);
}

async function judgePath(type: "read" | "write", name: string, { context, workspace }: World): Promise<PolicyDecision> {
  const found = join(workspace, name);
  const real = await realpath(found).catch(() => found);
  const command = { argv: [type, name], cwd: workspace, access: { type, paths: [real] } };
  return await judgeCall({ tool: `${type}_file`, readOnly: type === "read", command }, context);
}

async function other(tool: string, { context, workspace }: World): Promise<PolicyDecision> {
  return await judgeCall({ tool, readOnly: false, command: { argv: [tool], cwd: workspace } }, context);
}

describe("a command that no rule mentions", () => {
  test.each([
    { policy: "on-request", isConfined: true, decision: { type: "run", isOutside: false } },
    { policy: "on-failure", isConfined: true, decision: { type: "run", isOutside: false } },
    { policy: "never", isConfined: true, decision: { type: "run", isOutside: false } },
    { policy: "untrusted", isConfined: true, decision: { type: "ask", isOutside: false } },
    { policy: "on-request", isConfined: false, decision: { type: "ask", isOutside: true } },
    { policy: "never", isConfined: false, decision: { type: "refuse" } },
    { policy: "untrusted", isConfined: false, decision: { type: "ask", isOutside: true } },
  ] as const)("with $policy, in a sandbox $isConfined: $decision.type", async ({ policy, isConfined, decision }) => {
    const world = await policyWorld({ policy, isConfined, programs });
    expect(await sh("npm test > log.txt", world)).toMatchObject(decision);
  });

  test("with full access it runs outside a sandbox, except under the policy untrusted", async () => {
    const full = { sandbox: "danger-full-access", programs } as const;
    expect(await sh("rm x", await policyWorld(full))).toEqual({ type: "run", isOutside: true });
    expect(await sh("rm x", await policyWorld({ ...full, policy: "never" }))).toEqual({ type: "run", isOutside: true });
    expect(await sh("rm x", await policyWorld({ ...full, policy: "untrusted" }))).toMatchObject({ type: "ask" });
  });

  test("in a sandbox, leaving it needs approval and shows the model's reason; never refuses it", async () => {
    const escalated = { isEscalated: true, justification: "npm needs the registry" };
    expect(await sh("npm install", await policyWorld({ isConfined: true, programs }), escalated)).toEqual({
      type: "ask",
      isOutside: true,
      reason: "it would run outside the sandbox; the model's reason: npm needs the registry",
    });
    const never = await policyWorld({ isConfined: true, policy: "never", programs });
    expect(await sh("npm install", never, escalated)).toMatchObject({ type: "refuse" });
  });

  test("in a sandbox, a line that cannot be parsed needs approval", async () => {
    const world = await policyWorld({ isConfined: true, programs });
    expect(await sh("ls 'a", world)).toMatchObject({ type: "ask", isOutside: false });
    expect(await sh(`ls ${"x".repeat(20_000)}`, world)).toMatchObject({ type: "ask" });
    expect(await sh(Array.from({ length: 60 }, () => "ls").join(" && "), world)).toMatchObject({ type: "ask" });
    expect(await sh("echo $(ls) > a; for i in *; do cat $i; done &", world)).toMatchObject({ type: "run" });
  });
});

describe("a rule", () => {
  test("that allows a command lets it run without a question, in the sandbox unless it asks to leave it", async () => {
    const world = await policyWorld({ user: { allow: ["npm test *"] }, isConfined: true, programs });
    expect(await sh("npm test", world)).toEqual({ type: "run", isOutside: false });
    expect(await sh("npm test --watch", world, { isEscalated: true })).toEqual({ type: "run", isOutside: true });
    expect(await sh("npm install", world, { isEscalated: true })).toMatchObject({ type: "ask" });
  });

  test("takes precedence over the policy never, but under untrusted only if it has the exact words", async () => {
    const user = { allow: ["npm test", "git status *"] };
    const never = await policyWorld({ user, policy: "never", programs });
    expect(await sh("npm test && git status -s", never)).toMatchObject({ type: "run" });
    expect(await sh("npm test && rm x", never)).toMatchObject({ type: "refuse" });
    const untrusted = await policyWorld({ user, policy: "untrusted", programs });
    expect(await sh("npm test", untrusted)).toMatchObject({ type: "run" });
    expect(await sh("npm test -- --watch", untrusted)).toMatchObject({ type: "ask" });
    expect(await sh("git status", untrusted)).toMatchObject({ type: "ask" });
  });

  test("that is stricter wins over others of the user, whatever their order is", async () => {
    const user = { allow: ["git push *", "git log *"], ask: ["git push *"], deny: ["git push --force *"] };
    const world = await policyWorld({ user, isConfined: true, programs });
    expect(await sh("git log", world)).toMatchObject({ type: "run" });
    expect(await sh("git push", world)).toMatchObject({
      type: "ask",
      reason: expect.stringContaining('the rule "git push *" of permissions.json asks'),
    });
    expect(await sh("git push --force origin", world)).toMatchObject({ type: "refuse" });
    expect(await sh("ls && git push --force", world)).toMatchObject({ type: "refuse" });
  });

  test("that denies also applies to other spellings, and where a line is not plain", async () => {
    const world = await policyWorld({ user: { deny: ["git push *"] }, isConfined: true, programs });
    const denied = [
      [
        "/usr/bin/git push",
        "./git push",
        "env git push",
        "env A=1 git push origin",
        "sudo -n git push",
        "A=1 git push",
      ],
      ["git push > log", "echo $(git push)", "for i in a; do git push; done", "f() { git push; }; f", "xargs git push"],
      ["'git' \"push\"", "g\\it push", "timeout 5 git push", "git push $x", "git $x", "cat <<E\n$(git push)\nE"],
    ].flat();
    for (const line of denied) expect([line, await sh(line, world)]).toMatchObject([line, { type: "refuse" }]);
    expect(await argv(["git", "push"], world)).toMatchObject({ type: "refuse" });
    expect(await sh("$x push", world)).toMatchObject({ type: "ask" });
    expect(await sh("git status", world)).toMatchObject({ type: "run" });
    expect(await sh("echo 'git push'", world)).toMatchObject({ type: "run" });
  });

  test("of the project can only make a decision stricter", async () => {
    const project = { deny: ["npm publish *"], ask: ["npm test *", "read:src/private", "tool:mcp__a__*"] };
    const user = { allow: ["npm test *", "npm publish", "tool:mcp__a__b"] };
    const world = await policyWorld({ user, project, isConfined: true, programs });
    expect(await sh("npm test", world)).toMatchObject({ type: "ask" });
    expect(await sh("npm publish", world)).toMatchObject({ type: "refuse" });
    expect(await other("mcp__a__b", world)).toMatchObject({ type: "ask" });
    await mkdir(join(world.workspace, "src/private"), { recursive: true });
    expect(await judgePath("read", "src/private", world)).toMatchObject({ type: "ask" });
  });

  test("about a tool allows, asks about and denies it by name", async () => {
    const user = { allow: ["tool:mcp__a__*", "tool:shell"], deny: ["tool:mcp__a__delete", "tool:write_file"] };
    const world = await policyWorld({ user, programs });
    expect(await other("mcp__a__read", world)).toMatchObject({ type: "run" });
    expect(await other("mcp__a__delete", world)).toMatchObject({ type: "refuse" });
    expect(await other("mcp__b__read", world)).toMatchObject({ type: "ask" });
    expect(await judgePath("write", "a", world)).toMatchObject({ type: "refuse" });
    // A command is never allowed by the name of its tool.
    expect(await sh("rm x", world)).toMatchObject({ type: "ask" });
  });

  test("matches the program that will run, not its name", async () => {
    const world = await policyWorld({ user: { allow: ["cat *", "ls"] }, programs });
    const { context, workspace, bin } = world;
    await addProgram(workspace, "cat");
    expect(await sh("cat a", world)).toMatchObject({ type: "run" });
    expect(await sh("./cat a", world)).toMatchObject({ type: "ask" });
    expect(await sh(`${bin}/cat a`, world)).toMatchObject({ type: "run" });
    const within = (path: string): World => ({
      ...world,
      context: { ...context, commands: { ...context.commands, path } },
    });
    expect(await sh("cat a", within(`${workspace}:${bin}`))).toMatchObject({ type: "ask" });
    expect(await sh("cat a", within(`.:${bin}`))).toMatchObject({ type: "ask" });
    expect(await sh("cat a", within(`:${bin}`))).toMatchObject({ type: "ask" });
    expect(await sh("cat a", within(`${bin}:${workspace}`))).toMatchObject({ type: "run" });
    await mkdir(join(workspace, "links"));
    await addProgram(join(workspace, "links"), "ls", join(bin, "ls"));
    expect(await sh("ls", within(join(workspace, "links")))).toMatchObject({ type: "ask" });
    // A program that appears in PATH before the ruled one counts from the next decision on.
    const early = within(`${join(workspace, "early")}:${bin}`);
    expect(await sh("cat a && cat b", early)).toMatchObject({ type: "run" });
    await addProgram(join(workspace, "early"), "cat");
    expect(await sh("cat a && cat b", early)).toMatchObject({ type: "ask" });
    // A multi-call program is another one under another name.
    await addProgram(bin, "tool", join(bin, "cat"));
    expect(await sh(`${bin}/tool a`, world)).toMatchObject({ type: "ask" });
  });
});

test("rules that cannot be used make everything need approval, in a sandbox too", async () => {
  const world = await policyWorld({ isConfined: true, programs });
  const broken = {
    ...world,
    context: { ...world.context, rules: { user: [], project: [], problem: "permissions.json: invalid" } },
  };
  expect(await sh("ls", broken)).toMatchObject({
    type: "ask",
    isOutside: false,
    reason: expect.stringContaining("permissions.json: invalid"),
  });
  expect(await judgePath("read", "a", broken)).toMatchObject({ type: "ask" });
  expect(await other("mcp__a__b", broken)).toMatchObject({ type: "ask" });
  expect(await sh("ls", { ...broken, context: { ...broken.context, policy: "never" } })).toMatchObject({
    type: "refuse",
  });
});

describe("reading", () => {
  test("is free in the workspace; outside and for files with keys it asks, and secrets are denied", async () => {
    const world = await policyWorld({ policy: "on-request" });
    const { workspace, outside } = world;
    await mkdir(join(outside, "secret"));
    for (const name of ["a", ".env", ".env.example", "id_rsa", "server.key"])
      await writeFile(join(workspace, name), "");
    for (const name of ["b", "secret/key"]) await writeFile(join(outside, name), "");
    await symlink(join(outside, "b"), join(workspace, "link-out"));
    await symlink(join(outside, "secret"), join(workspace, "link-secret"));
    await link(join(outside, "secret/key"), join(workspace, "hard"));
    await link(join(workspace, "a"), join(workspace, "twin"));
    const types = async (names: readonly string[]) =>
      await Promise.all(names.map(async (name) => (await judgePath("read", name, world)).type));
    expect(await types(["a", "twin", "missing", ".env.example"])).toEqual(["run", "run", "run", "run"]);
    expect(await types([".env", "id_rsa", "server.key", "link-out", "/etc/hosts"])).toEqual([
      "ask",
      "ask",
      "ask",
      "ask",
      "run",
    ]);
    const absent = join("..", `${basename(workspace)}-absent`);
    expect(await types(["link-secret/key", "hard", absent])).toEqual(["refuse", "refuse", "run"]);
  });

  test("follows rules, and under the policy never what would be asked is refused", async () => {
    const user = { allow: ["read:~/secret/public", "read:**/.env"], deny: ["read:~/b", "read:~/c/**"] };
    const world = await policyWorld({ user, policy: "never" });
    const { outside, workspace } = world;
    await mkdir(join(outside, "secret"));
    await mkdir(join(outside, "c/d"), { recursive: true });
    for (const name of ["b", "a", "secret/public", "secret/key", "c/d/e"]) await writeFile(join(outside, name), "");
    await writeFile(join(workspace, ".env"), "");
    const at = async (name: string) =>
      (await judgePath("read", join("..", outside.slice(outside.lastIndexOf("/") + 1), name), world)).type;
    expect(await Promise.all(["secret/public", "secret/key", "b", "c/d/e", "a"].map(at))).toEqual([
      "run",
      "refuse",
      "refuse",
      "refuse",
      "refuse",
    ]);
    expect(await judgePath("read", ".env", world)).toMatchObject({ type: "run" });
  });
});

describe("writing", () => {
  test("in the workspace needs no approval where commands are confined, except for protected files", async () => {
    const world = await policyWorld({ isConfined: true });
    const type = async (name: string) => (await judgePath("write", name, world)).type;
    expect(await Promise.all(["a", "src/b", "gitignore"].map(type))).toEqual(["run", "run", "run"]);
    const asked = [
      ".git/hooks/x",
      ".git/config",
      ".GIT/config",
      "sub/.git/config",
      ".cody/config.json",
      "AGENTS.md",
      "a/CLAUDE.md",
      "../x",
    ];
    expect(await Promise.all(asked.map(type))).toEqual(asked.map(() => "ask"));
    expect(await judgePath("write", "a", await policyWorld())).toMatchObject({
      type: "ask",
      reason: "no sandbox: every command needs approval",
    });
    expect(await judgePath("write", "a", await policyWorld({ isConfined: true, sandbox: "read-only" }))).toMatchObject({
      type: "ask",
    });
    expect(await judgePath("write", "a", await policyWorld({ isConfined: true, policy: "untrusted" }))).toMatchObject({
      type: "ask",
    });
    const never = await policyWorld({ isConfined: true, policy: "never" });
    expect([await judgePath("write", "a", never), await judgePath("write", "../x", never)]).toMatchObject([
      { type: "run" },
      { type: "refuse" },
    ]);
  });

  test("follows rules about paths", async () => {
    const user = { allow: ["write:docs/**"], deny: ["write:**/*.lock"], ask: ["write:src"] };
    const world = await policyWorld({ user, isConfined: true });
    const type = async (name: string) => (await judgePath("write", name, world)).type;
    expect(await Promise.all(["docs/AGENTS.md", "a/b.lock", "src/x", "x"].map(type))).toEqual([
      "run",
      "refuse",
      "ask",
      "run",
    ]);
  });
});
