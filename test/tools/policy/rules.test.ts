import { expect, test } from "vitest";
import type { RuleLists } from "../../../src/messages/tools/permissions.js";
import { compileRules } from "../../../src/tools/policy/rules.js";

const places = { source: "permissions.json", root: undefined, userHome: "/home/alice" };

function problemOf(lists: RuleLists): string | undefined {
  try {
    compileRules(lists, places);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each<[RuleLists, RegExp]>([
  [{ allow: ["ls; rm x"] }, /expected the words of one command/],
  [{ allow: ["ls > x"] }, /expected the words of one command/],
  [{ allow: ["*"] }, /expected the words of one command/],
  [{ allow: ["ls 'a"] }, /expected the words of one command/],
  [{ allow: ["./run"] }, /a program must be a name or an absolute path/],
  [{ allow: ["read:src"] }, /a path must start with/],
  [{ allow: ["read:"] }, /nothing follows read:/],
  [{ allow: ["env *"] }, /env can run any program/],
  [{ allow: ["sudo ls *"] }, /sudo can run any program/],
  [{ allow: ["find . *"] }, /find can run any program/],
  [{ allow: ["python3.11 *"] }, /has to name its script/],
  [{ allow: ["python3 -c *"] }, /has to name its script/],
  [{ allow: ["git *"] }, /has to name its subcommand/],
  [{ allow: ["git -C x status *"] }, /has to name its subcommand/],
  [{ allow: ["git bisect *"] }, /git bisect can run any program/],
  [{ allow: ["/usr/bin/env *"] }, /can run any program/],
  [{ allow: [{ rule: "npm test *", match: ["npm run test"] }] }, /its example "npm run test" does not match/],
  [{ deny: [{ rule: "git push *", notMatch: ["git push --tags"] }] }, /its example "git push --tags" matches/],
  [{ deny: [{ rule: "read:~/a/*", match: ["~/a/b/c", "~/b"] }] }, /its example "~\/b" does not match/],
])("%j is refused when it is loaded", (lists, problem) => {
  expect(problemOf(lists)).toMatch(problem);
  expect(problemOf(lists)).toMatch(/^permissions\.json: (?:allow|deny) rule "/);
});

test.each<RuleLists>([
  { allow: ["env A=1 ls", "find . -name x", "python3 manage.py *", "git status *", "'my program' *", "/opt/x/run *"] },
  { deny: ["env *", "find *", "sudo *", "git *"], ask: ["python *"] },
  { allow: ["command:read:x"], deny: ["tool:mcp__*"], ask: ["write:/", "read:~", "read:**/*.pem"] },
  {
    allow: [
      { rule: "git diff *", match: ["git diff", "git diff --stat"], notMatch: ["git difftool", "git diff --ext-diff"] },
    ],
  },
  { deny: [{ rule: "read:~/a/**", match: ["~/a", "~/a/b", "~/a/b/c"], notMatch: ["~/ab", "~/b"] }] },
  { deny: [{ rule: "read:**/*.pem", match: ["/a.pem", "/a/b/c.pem"], notMatch: ["/a/pem", "/a.pemx"] }] },
  { deny: [{ rule: "read:/a/*/c", match: ["/a/b/c", "/a/b/c/d"], notMatch: ["/a/b/d/c"] }] },
])("%j is accepted", (lists) => {
  expect(problemOf(lists)).toBeUndefined();
});

test("relative programs and paths of a project's rules start at its root", () => {
  const rules = compileRules({ allow: ["./gradlew build", "write:src"] }, { ...places, root: "/projects/a" });
  expect(rules.map(({ pattern }) => pattern)).toMatchObject([
    { kind: "command", words: ["/projects/a/gradlew", "build"], isPrefix: false },
    { kind: "write", path: "/projects/a/src" },
  ]);
});
