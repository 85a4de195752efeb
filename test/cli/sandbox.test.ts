import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { pathWithSandbox } from "../support/fake-sandbox.js";

const working = { PATH: pathWithSandbox };

test("sandbox status says what commands may do", async () => {
  const cli = await Cli.open();
  const cache = join(cli.project, "cache");
  await mkdir(cache);
  const env = { ...working, CODY_SANDBOX_WRITABLE_ROOTS: `~/cache,/missing,/etc`, LANG: "C" };
  const { code, stdout } = await cli.run(["sandbox"], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Sandbox works: bubblewrap .*bwrap\n/);
  expect(stdout.split("\n").slice(1).join("\n")).toBe(`  mode: workspace-write
  writable: ${cli.project}, ${cache}, /tmp (private)
  network: off
  unix sockets: off
  environment: HOME, LANG, PATH, TZ
`);
  const json = await cli.run(["sandbox", "status", "--json", "--sandbox", "read-only"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({ works: true, mode: "read-only", network: "off", writableRoots: [] });
});

test("sandbox status fails with the reason where no sandbox works", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["sandbox", "status"]);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^Sandbox does not work: .*bwrap cannot create a sandbox: no sandbox in this test/),
  });
  expect(JSON.parse((await cli.run(["sandbox", "status", "--json"])).stdout)).toMatchObject({ works: false });
});

test("sandbox run passes on arguments, output and exit code, and leaves nothing behind", async () => {
  const cli = await Cli.open();
  await writeFile(join(cli.project, "a"), "");
  const script = 'echo "$1"; echo problem >&2; ls -A; exit 7';
  const result = await cli.run(["sandbox", "run", "--", "sh", "-c", script, "sh", "--flag x"], { env: working });
  expect(result).toMatchObject({ code: 7, stderr: "problem\n" });
  expect(result.stdout.split("\n")).toEqual(
    expect.arrayContaining(["--flag x", ".cody", ".git", "AGENTS.md", "CLAUDE.md", "a", "home"]),
  );
  expect((await readdir(cli.project)).toSorted()).toEqual(["a", "home"]);
  expect(await readdir(join(cli.home, "sandbox"))).toEqual(["empty", "unreadable"]);
});

test.each([
  { flags: [], env: {}, problem: "no sandbox in this test" },
  { flags: ["--sandbox", "danger-full-access"], env: working, problem: "the sandbox mode is danger-full-access" },
])("without a sandbox, nothing runs: $problem", async ({ flags, env, problem }) => {
  const cli = await Cli.open();
  const result = await cli.run(["sandbox", "run", ...flags, "--", "touch", "a"], { env });
  expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(problem) });
  expect(await readdir(cli.project)).not.toContain("a");
});

test.each([
  ["sandbox", "stop"],
  ["sandbox", "run"],
  ["sandbox", "status", "x"],
])("%s %s is rejected", async (...args) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("Usage: cody sandbox") });
});

test("the short form of the setting and of its variable are still read", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(join(cli.home, "config.json"), JSON.stringify({ sandbox: "read-only" }));
  const mode = async (env = {}) => (await cli.run(["config", "get", "sandbox"], { env })).stdout;
  expect(await mode()).toBe("read-only\n");
  expect(await mode({ CODY_SANDBOX: "danger-full-access" })).toBe("danger-full-access\n");
  expect(await mode({ CODY_SANDBOX: "danger-full-access", CODY_SANDBOX_MODE: "workspace-write" })).toBe(
    "workspace-write\n",
  );
});
