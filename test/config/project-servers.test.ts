import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type ProjectCommands, readProjectCommands } from "../../src/config/project/project-config.js";
import { realProjectRoot } from "../../src/config/project/project.js";
import { readTrust, setTrust } from "../../src/config/project/trust.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function serversIn(home: string, cwd: string): Promise<ProjectCommands> {
  return await readProjectCommands(home, await realProjectRoot(cwd));
}

async function project(config?: unknown) {
  const [home, root] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(root, ".git"));
  await mkdir(join(root, "src"));
  if (config !== undefined) {
    await mkdir(join(root, ".cody"));
    await writeFile(join(root, ".cody/config.json"), JSON.stringify(config));
  }
  return { home, root };
}

test("a project's servers are read from its root, with the user's trust decision", async () => {
  const { home, root } = await project({ mcp_servers: { one: { command: "one" } }, model: "whatever" });
  const found = {
    root,
    file: join(root, ".cody/config.json"),
    servers: { one: { command: "one" } },
    hooks: {},
    settings: ["model"],
    problem: undefined,
    isChanged: false,
    digest: expect.any(String),
  };
  expect(await serversIn(home, join(root, "src"))).toEqual({ ...found, trust: undefined, isAllowed: false });
  await setTrust(home, root, "trusted");
  expect(await serversIn(home, root)).toEqual({ ...found, trust: "trusted", isAllowed: true });
  await setTrust(home, root, "untrusted");
  expect((await serversIn(home, root)).trust).toBe("untrusted");
  await setTrust(home, root, undefined);
  expect([...(await readTrust(home))]).toEqual([]);
});

test("trust is bound to the real path of the folder", async () => {
  const { home, root } = await project({ mcp_servers: { one: { command: "one" } } });
  const other = await project({ mcp_servers: { two: { command: "two" } } });
  const link = join(home, "link");
  await symlink(root, link);
  await setTrust(home, await realProjectRoot(link), "trusted");
  expect((await serversIn(home, root)).trust).toBe("trusted");
  expect((await serversIn(home, other.root)).trust).toBeUndefined();
});

test("a damaged trust file trusts no project", async () => {
  const { home, root } = await project();
  for (const text of ["{", "[]", '{"relative": "trusted"}', `{"${root}": "yes"}`, "null"]) {
    await writeFile(join(home, "trust.json"), text);
    expect([...(await readTrust(home))]).toEqual([]);
  }
});

test("a project without a configuration, and the folder above cody's home, have no servers", async () => {
  const { home, root } = await project();
  expect(await serversIn(home, root)).toMatchObject({ file: undefined, servers: {} });
  const above = await project({ mcp_servers: { one: { command: "one" } } });
  expect(await serversIn(join(above.root, ".cody"), above.root)).toMatchObject({
    file: undefined,
    servers: {},
  });
});

test("an error in a project's configuration is reported, and none of its servers is used", async () => {
  const wrong = [
    { mcp_servers: { one: { command: "one", url: "http://x" } } },
    { mcp_servers: { one: { url: "file:///etc/passwd" } } },
    { mcp_servers: { "a b": { command: "one" } } },
    { mcp_servers: { one: { command: "one", shell: true } } },
    { mcp_servers: { one: { url: "http://x", args: [] } } },
    { mcp_servers: 7 },
  ];
  for (const config of wrong) {
    const { home, root } = await project(config);
    const { servers, problem } = await serversIn(home, root);
    expect({ servers, problem: problem === undefined ? "none" : "some" }).toEqual({
      servers: {},
      problem: config.mcp_servers === 7 ? "none" : "some",
    });
  }
});

test("a configuration that is not a regular file is not opened", async () => {
  const { home, root } = await project({});
  await promisify(execFile)("mkfifo", [join(root, ".cody/config.yaml")]);
  expect((await serversIn(home, root)).problem).toContain("config.yaml is not a file");
  const linked = await project({});
  await symlink("/etc/passwd", join(linked.root, ".cody/config.yaml"));
  expect((await serversIn(linked.home, linked.root)).problem).toContain("config.yaml is not a file");
});

test("trust is bound to the hooks and servers that the user has seen, however they are written", async () => {
  const one = { type: "command", command: "one" };
  const config = {
    model: "a",
    mcp_servers: { one: { command: "one", args: ["x"] } },
    hooks: { Stop: [{ hooks: [one] }] },
  };
  const { home, root } = await project(config);
  const write = async (changed: object): Promise<ProjectCommands> => {
    await writeFile(join(root, ".cody/config.json"), JSON.stringify(changed, undefined, 4));
    return await serversIn(home, root);
  };
  await setTrust(home, root, "trusted");
  const { hooks, mcp_servers } = config;
  // Other settings, and the order of the keys, make no difference.
  const same = { hooks, mcpServers: { one: { args: ["x"], command: "one" } }, model: "b" };
  expect(await write(same)).toMatchObject({ isAllowed: true, isChanged: false });
  const changes = [
    { mcp_servers },
    { hooks },
    { mcp_servers, hooks: { Stop: [{ hooks: [{ ...one, command: "two" }] }] } },
    { mcp_servers, hooks: { Stop: [{ matcher: "*", hooks: [one] }] } },
    { mcp_servers: { one: { command: "one", args: ["y"] } }, hooks },
    { mcp_servers: { one: { command: "one", args: ["x"], env: { A: "1" } } }, hooks },
  ];
  for (const changed of changes) expect(await write(changed)).toMatchObject({ isAllowed: false, isChanged: true });
  expect(await write({ model: "a" })).toMatchObject({ isAllowed: true, isChanged: false });
  expect(await write(config)).toMatchObject({ isAllowed: true });
});

test("commands that appear while the user decides are not trusted", async () => {
  const { home, root } = await project({ model: "a" });
  const { digest = "" } = await serversIn(home, root);
  await writeFile(join(root, ".cody/config.json"), JSON.stringify({ mcp_servers: { one: { command: "one" } } }));
  await setTrust(home, root, "trusted", digest);
  expect(await serversIn(home, root)).toMatchObject({ trust: "trusted", isAllowed: false, isChanged: true });
});

test("a project that was trusted before its commands were recorded asks again", async () => {
  const { home, root } = await project({ mcp_servers: { one: { command: "one" } } });
  await writeFile(join(home, "trust.json"), JSON.stringify({ [root]: "trusted" }));
  expect(await serversIn(home, root)).toMatchObject({ trust: "trusted", isAllowed: false, isChanged: true });
});
