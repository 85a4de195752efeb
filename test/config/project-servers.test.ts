import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type ProjectServers, readProjectServers } from "../../src/config/project/project-config.js";
import { readTrust, realProjectRoot, setTrust } from "../../src/config/project/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function serversIn(home: string, cwd: string): Promise<ProjectServers> {
  return await readProjectServers(home, await realProjectRoot(cwd));
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
    settings: ["model"],
    problem: undefined,
  };
  expect(await serversIn(home, join(root, "src"))).toEqual({ ...found, trust: undefined });
  await setTrust(home, root, "trusted");
  expect(await serversIn(home, root)).toEqual({ ...found, trust: "trusted" });
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
