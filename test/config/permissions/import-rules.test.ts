import { expect, test } from "vitest";
import { importClaudeSettings } from "../../../src/config/permissions/import-claude.js";
import { importCodexRules, type ImportedRule } from "../../../src/config/permissions/import-codex.js";

function short(rules: readonly ImportedRule[]): unknown[] {
  return rules.map((each) => (each.ok ? [each.decision, each.rule] : [each.source, each.reason]));
}

test("Codex's prefix rules are imported with their alternatives, examples and reason", () => {
  const rules = `# what may run
prefix_rule(
    pattern = ["git", ["status", "diff"]],  # reading
    match = ["git status --short", ["git", "diff", "a b"]],
    not_match = [["git", "push"]],
)
prefix_rule(pattern=["rm", "-rf"], decision="forbidden", justification="use trash")
prefix_rule(pattern = ['npm', 'publish'], decision = 'prompt')
`;
  expect(short(importCodexRules(rules))).toEqual([
    ["allow", { rule: "git status *", match: ["git status --short"], notMatch: ["git push"] }],
    ["allow", { rule: "git diff *", match: ["git diff 'a b'"], notMatch: ["git push"] }],
    ["deny", { rule: "rm -rf *", because: "use trash" }],
    ["ask", "npm publish *"],
  ]);
});

test("what is not a prefix rule with literal arguments is reported, and the rules after it are read", () => {
  const rules = `words = ["a"]
prefix_rule(pattern = words)
host_executable(name = "git", paths = ["/usr/bin/git"])
prefix_rule(pattern = ["ls"], decision = "maybe")
prefix_rule(pattern = [f() for x in y])
prefix_rule(pattern = ["ls"])
`;
  expect(short(importCodexRules(rules))).toEqual([
    ['words = ["a"]', "it is more than a call with texts and lists"],
    ["prefix_rule(pattern = words)", "it is more than a call with texts and lists"],
    ['host_executable(name = "git", paths = ["/usr/bin/git"])', "cody has no host_executable"],
    ['prefix_rule(pattern = ["ls"], decision = "maybe")', "its pattern or decision is unknown"],
    ["prefix_rule(pattern = [f() for x in y])", "it is more than a call with texts and lists"],
    ["allow", "ls *"],
  ]);
});

test("Claude Code's permissions are imported where they mean the same", () => {
  const allow = [
    "Bash(git status:*)",
    "Bash(npm test)",
    "Bash(npm run *)",
    "Read(~/notes/**)",
    "mcp__github__get_issue",
  ];
  const deny = ["Read(//etc/**)", "Read(*.pem)", "Edit(~/.zshrc)", "Bash", "mcp__github"];
  const ask = ["Bash(git push:*)"];
  expect(short(importClaudeSettings({ permissions: { allow, deny, ask } }))).toEqual([
    ["allow", "git status *"],
    ["allow", "npm test"],
    ["allow", "npm run *"],
    ["allow", "read:~/notes/**"],
    ["allow", "tool:mcp__github__get_issue"],
    ["ask", "git push *"],
    ["deny", "read:/etc/**"],
    ["deny", "read:**/*.pem"],
    ["deny", "write:~/.zshrc"],
    ["deny", "tool:shell"],
    ["deny", "tool:mcp__github__*"],
  ]);
});

test("Claude Code's permissions without an equal are reported", () => {
  const allow = [
    "Bash",
    "Bash(*)",
    "Bash(git * main)",
    "Read",
    "Read(./src/**)",
    "Read(/src/**)",
    "Read(a?)",
    "WebFetch(domain:a.b)",
    "x(",
    1,
  ];
  expect(importClaudeSettings({ permissions: { allow } }).map(({ source, ok }) => [source, ok])).toEqual(
    allow.filter((rule) => typeof rule === "string").map((rule) => [rule, false]),
  );
  expect(importClaudeSettings([])).toEqual([]);
  expect(importClaudeSettings({ permissions: { allow: "all" } })).toEqual([]);
});
