import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Cli, type CliResult } from "../support/cli.js";
import { remainingProcesses, marked, processesWith } from "../support/processes.js";
import { openHttpServer } from "../support/mcp/servers.js";

const script = fileURLToPath(new URL("../support/mcp/server.mjs", import.meta.url));

function json(result: CliResult): unknown {
  return JSON.parse(result.stdout);
}

function add(name: string, ...pairs: string[]): string[] {
  return ["mcp", "add", name, ...pairs, "--", process.execPath, script];
}

test("mcp add, list, test and remove work and keep the rest of the file unchanged", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  const file = join(cli.home, "config.jsonc");
  const before = '{\n  // Mine.\n  "model": "offline" // as it is\n}\n';
  await writeFile(file, before);
  const mark = marked("cli_mcp");
  const pairs = ["--env", `${mark.name}=${mark.value}`, "--env", "API_KEY=hidden-value"];
  expect(await cli.run(["mcp", "add", "one", ...pairs, "--", process.execPath, script, "-x"])).toMatchObject({
    code: 0,
  });
  expect(await readFile(file, "utf8")).toContain("// as it is");
  const listed = await cli.run(["mcp", "list"]);
  expect(listed.stdout).toContain(`one  ${process.execPath} ${script} -x  (on, config.jsonc)`);
  const shown = await cli.run(["mcp", "list", "--json"]);
  expect(json(shown)).toMatchObject([{ name: "one", status: "on", env: [mark.name, "API_KEY"] }]);
  expect(shown.stdout).not.toContain("hidden-value");
  const tested = await cli.run(["mcp", "test"]);
  expect(tested).toMatchObject({ code: 0 });
  expect(tested.stdout).toContain("✓ one: 15 tools, 1 resource, 1 prompt\n");
  expect(tested.stdout).toContain("  prompts: greet\n  resources: test://one\n");
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
  expect(await cli.run(["mcp", "remove", "one"])).toMatchObject({ code: 0 });
  expect(await readFile(file, "utf8")).toBe(before);
  expect(await cli.run(["mcp", "remove", "one"])).toMatchObject({ code: 1 });
  expect((await cli.run(["mcp"])).stdout).toContain("No MCP servers");
});

test("the value of a variable is read from stdin, so that it is not an argument", async () => {
  const cli = await Cli.open();
  const quiet = await cli.run(add("one", "--env", "API_KEY=-", "--env", "LEVEL=1"), { input: "hidden-value\n" });
  expect(quiet).toMatchObject({ code: 0, stderr: "" });
  const written = await readFile(join(cli.home, "config.json"), "utf8");
  expect(JSON.parse(written)).toMatchObject({ mcp_servers: { one: { env: { API_KEY: "hidden-value", LEVEL: "1" } } } });
  const warned = await cli.run(add("two", "--env", "API_KEY=shown-value"));
  expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining("--env API_KEY=-") });
  expect(warned.stderr).not.toContain("shown-value");
  expect(await cli.run(add("three", "--env", "API_KEY=-"), { input: "" })).toMatchObject({ code: 2 });
  expect(await cli.run(add("three", "--env", "A=-", "--env", "B=-"), { input: "x" })).toMatchObject({ code: 2 });
});

test("mcp add replaces an existing server only with --replace, and servers are shown without secrets", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  const file = join(cli.home, "config.json");
  const command = ["-e", "API_KEY=in-a-pair", "--api-key", "behind-a-flag", "--token=in-a-flag", "--level", "3"];
  const servers = {
    one: { command: "docker", args: command, env: { API_KEY: "in-the-env" }, tool_timeout_sec: 5 },
    far: { url: "https://far.example/mcp?key=in-the-query", http_headers: { "X-Key": "in-a-header" } },
  };
  const before = JSON.stringify({ mcp_servers: servers });
  await writeFile(file, before);
  const refused = await cli.run(["mcp", "add", "one", "--", "other"]);
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("--replace") });
  expect(refused.stderr).toContain(
    "docker -e 'API_KEY=[redacted]' --api-key '[redacted]' '--token=[redacted]' --level 3",
  );
  const far = await cli.run(["mcp", "add", "far", "--url", "https://other.example/mcp"]);
  expect(far).toMatchObject({ code: 1, stderr: expect.stringContaining("https://far.example/mcp?key=[redacted]") });
  // A secret that would not be saved is not requested.
  expect(await cli.run(["mcp", "add", "one", "--env", "API_KEY=-", "--", "other"], { input: "" })).toMatchObject({
    code: 1,
  });
  expect(await readFile(file, "utf8")).toBe(before);
  const listed = [await cli.run(["mcp", "list"]), await cli.run(["mcp", "list", "--json"])];
  const replaced = await cli.run(["mcp", "add", "one", "--replace", "--url", "https://new.example/mcp"]);
  expect(replaced).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ Replaced one") });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    mcp_servers: { one: { url: "https://new.example/mcp" }, far: servers.far },
  });
  const fresh = await cli.run(["mcp", "add", "new", "--replace", "--json", "--", "other"]);
  expect(json(fresh)).toEqual({ name: "new", added: true, replaced: false });
  for (const { stdout, stderr } of [refused, far, replaced, ...listed]) {
    expect(stdout + stderr).not.toMatch(/in-a-pair|behind-a-flag|in-a-flag|in-the-env|in-the-query|in-a-header/);
  }
});

test("mcp add --url adds a server by its address", async () => {
  const cli = await Cli.open();
  const { url } = await openHttpServer();
  await cli.run(["mcp", "add", "far", "--url", url, "--bearer-token-env-var", "FAR_TOKEN"]);
  expect(json(await cli.run(["mcp", "list", "--json"]))).toMatchObject([{ name: "far", url }]);
  expect(await cli.run(["mcp", "test", "far"])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("FAR_TOKEN"),
  });
  const tested = await cli.run(["mcp", "test", "far", "--json"], { env: { FAR_TOKEN: "t" } });
  expect(json(tested)).toMatchObject([{ name: "far", status: "ready" }]);
});

test.each([
  [["mcp", "add", "one"], "expected a server with a command or a url"],
  [["mcp", "add", "a b", "--", "x"], "a server's name must have"],
  [["mcp", "add", "one", "--url", "http://x", "--", "x"], "unknown key url for a server with a command"],
  [["mcp", "add", "one", "--env", "x", "--", "x"], "expected NAME=VALUE"],
  [["mcp", "add"], "Missing server name"],
  [["mcp", "start"], "Unknown action 'start'"],
  [["mcp", "list", "one", "two"], "Unexpected argument 'two'"],
])("%j is rejected with the reason", async (args, message) => {
  const cli = await Cli.open();
  const result = await cli.run(args);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(message);
});

test("the MCP client is not loaded when no servers are configured", async () => {
  const cli = await Cli.open();
  const [spy, loaded] = [join(cli.project, "spy.cjs"), join(cli.project, "loaded")];
  const files = 'Object.keys(require.cache).filter((file) => file.includes("mcp-servers")).length > 0';
  const write = `require("node:fs").writeFileSync(${JSON.stringify(loaded)}, String(${files}))`;
  // Only the main thread reports: worker threads exit too and load their own modules.
  await writeFile(spy, `if (require("node:worker_threads").isMainThread) process.on("exit", () => ${write});`);
  const run = async (): Promise<string> => {
    await cli.run(["chat", "What is 2+2?"], { env: { NODE_OPTIONS: `--require ${spy}` } });
    return await readFile(loaded, "utf8");
  };
  expect(await run()).toBe("false");
  await cli.run(["mcp", "add", "one", "--", process.execPath, script]);
  expect(await run()).toBe("true");
});

test("chat reports which servers are unavailable", async () => {
  const cli = await Cli.open();
  await cli.run(["mcp", "add", "broken", "--", "/no/such/server"]);
  const result = await cli.run(["chat", "What is 2+2?"]);
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("4") });
  expect(result.stderr).toContain("MCP server broken is not available: it exited with code 127");
});

test("a project's servers run once it is trusted", async () => {
  const cli = await Cli.open();
  const mark = marked("cli_trust");
  const project = join(cli.project, "project");
  await mkdir(join(project, ".cody"), { recursive: true });
  await mkdir(join(project, ".git"));
  const theirs = { command: process.execPath, args: [script], env: mark.env };
  await writeFile(join(project, ".cody/config.json"), JSON.stringify({ mcp_servers: { theirs } }));
  const where = { cwd: project };
  const untrusted = await cli.run(["chat", "What is 2+2?"], where);
  expect(untrusted.stderr).toContain("because the project is not trusted");
  expect((await cli.run(["mcp", "list"], where)).stdout).toContain("(not trusted, ");
  expect(await cli.run(["mcp", "test", "theirs"], where)).toMatchObject({ code: 1 });
  expect(await processesWith(mark)).toEqual([]);
  expect(await cli.run(["trust"], where)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^✓ Trusted: .*\n {2}the MCP server theirs: /),
  });
  expect(json(await cli.run(["trust", "--list", "--json"]))).toEqual({ [project]: "trusted" });
  expect(await cli.run(["mcp", "test", "theirs"], where)).toMatchObject({ code: 0 });
  expect((await cli.run(["chat", "What is 2+2?"], where)).stderr).not.toContain("trust");
  expect(await remainingProcesses(mark, 2_000)).toEqual([]);
  await cli.run(["trust", project, "--undo"]);
  expect(json(await cli.run(["trust", "--list", "--json"]))).toEqual({});
});

test("secrets of servers appear in no output", async () => {
  const cli = await Cli.open();
  const secret = "correct-horse-battery";
  const project = join(cli.project, "project");
  await mkdir(join(project, ".cody"), { recursive: true });
  await mkdir(join(project, ".git"));
  await mkdir(cli.home);
  const theirs = { command: process.execPath, args: [script, "leaks", "crash"], env: { API_KEY: secret } };
  await writeFile(join(project, ".cody/config.json"), JSON.stringify({ mcp_servers: { theirs } }));
  expect(await cli.run(["trust"], { cwd: project })).toMatchObject({ code: 0 });
  for (const args of [
    ["mcp", "test"],
    ["mcp", "test", "--json"],
    ["chat", "What is 2+2?"],
    ["chat", "--json", "2+2?"],
  ]) {
    const { stdout, stderr } = await cli.run(args, { cwd: project });
    expect(stdout + stderr).toContain("my key is [redacted]");
    expect(stdout + stderr).not.toContain(secret);
  }
});
