import { expect, test } from "vitest";
import { excludesFileIn } from "../../../src/changes/workspace/git-config.js";

test.each([
  ["", undefined],
  ["[core]\n\texcludesFile = ~/ignore\n", "~/ignore"],
  ["[CORE]\r\n  ExcludesFile=a b  # of mine\r\n", "a b"],
  ['[core] excludesfile = "a;b" ; more\n', "a;b"],
  ['[core]\nexcludesfile = "tab\\there" and \\"quotes\\"\n', 'tab\there and "quotes"'],
  ["[core]\nexcludesfile = one\\\n  two\n", "one  two"],
  ["[core]\nexcludesfile = first\n[user]\nexcludesfile = other\n[core]\nexcludesfile = last\n", "last"],
  ['[core "sub"]\nexcludesfile = other\n', undefined],
  ["[core]\nexcludesfile\n", undefined],
  ["[core]\nexcludesfile =\n", ""],
  ["[core]\n# excludesfile = no\n; excludesfile = no \\\nexcludesfile = yes\n", "yes"],
  ["[include]\npath = other\n", undefined],
])("the core.excludesFile in %j is %j", (text, path) => {
  expect(excludesFileIn(text)).toBe(path);
});
