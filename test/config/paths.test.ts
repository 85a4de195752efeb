import { expect, test } from "vitest";
import { codyHome, homePaths } from "../../src/config/paths.js";

test("CODY_HOME sets cody's home, which is .cody in the user's home by default", () => {
  expect(codyHome({ env: { CODY_HOME: "/data/cody" }, homedir: "/home/alice" })).toBe("/data/cody");
  expect(codyHome({ env: {}, homedir: "/home/alice" })).toBe("/home/alice/.cody");
  expect(codyHome({ env: { CODY_HOME: "" }, homedir: "/home/alice" })).toBe("/home/alice/.cody");
});

test("every path is inside cody's home", () => {
  expect(homePaths("/home/alice/.cody")).toEqual({
    conversations: "/home/alice/.cody/conversations",
    logs: "/home/alice/.cody/logs",
    active: "/home/alice/.cody/active",
    relinks: "/home/alice/.cody/relinks.json",
    heads: "/home/alice/.cody/heads.json",
    codexHeads: "/home/alice/.cody/codex-heads.json",
    index: "/home/alice/.cody/index.sqlite",
    codexRegister: "/home/alice/.cody/codex-conversations.jsonl",
    registeredHeads: "/home/alice/.cody/codex-conversation-heads.json",
    codexPins: "/home/alice/.cody/codex-pins.jsonl",
    workspaces: "/home/alice/.cody/workspaces",
    trust: "/home/alice/.cody/trust.json",
    trustedCommands: "/home/alice/.cody/trusted-commands.json",
    permissions: "/home/alice/.cody/permissions.json",
    trash: "/home/alice/.cody/trash",
    retention: "/home/alice/.cody/retention.json",
    tokens: "/home/alice/.cody/tokens.json",
    retentionLog: "/home/alice/.cody/retention.jsonl",
    promptHistory: "/home/alice/.cody/prompt-history.jsonl",
    sandbox: "/home/alice/.cody/sandbox",
  });
});
