import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openConversation } from "../support/open-conversation.js";
import { calls, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** An ordinary turn: a model looks around, changes something, builds, tests and commits. */
const commands = [
  "git status --short",
  "git diff",
  "git log --oneline -5",
  "ls -la src",
  "cat package.json",
  "sed -n '1,20p' src/a.js",
  "rg --files || find . -name '*.js' -not -path './node_modules/*'",
  "grep -rn 'a' src | head -5",
  "wc -l src/*.js",
  "head -n 3 README.md",
  "mkdir -p src/new && touch src/new/c.js",
  "sed -i 's/one/two/' src/a.js",
  "cat > src/b.js <<'EOF'\nexport const b = 2;\nEOF",
  "mv src/b.js src/new/b.js",
  "cp src/a.js src/copy.js && rm src/copy.js",
  "node --check src/a.js",
  "npm test 2>&1 | tail -n 5",
  "npm run build --silent",
  "node -e 'console.log(1 + 1)'",
  "cd src && ls",
  'for f in src/*.js; do echo "$f"; done',
  "test -f package.json && echo yes",
  'echo "$(git rev-parse --abbrev-ref HEAD)"',
  "git add -A",
  "git -c user.name=a -c user.email=a@example.com commit -qm 'change' && echo done",
  "git show --stat HEAD",
  "git branch -a",
  "TMP_A=1 node -e 'console.log(process.env.TMP_A)'",
  "python3 -c 'print(1)' || true",
  "git diff --stat HEAD~1",
];

test("of 30 ordinary commands in the sandbox, none needs approval, and all succeed", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "src"));
  const scripts = { test: "node --check src/a.js && echo passed", build: "node -e 0" };
  await writeFile(join(cwd, "package.json"), JSON.stringify({ name: "site", type: "module", scripts }));
  await writeFile(join(cwd, "README.md"), "# Site\n");
  await writeFile(join(cwd, "src/a.js"), "export const a = 'one';\n");
  const git = (...args: string[]): Buffer =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  const replies = [...commands.map((command, index) => calls("shell", `c${index}`, { command })), says("done")];
  const { conversation, events } = await openConversation({
    provider: scripted(replies),
    cwd,
    env: { PATH: process.env["PATH"], HOME: await temporaryFolder() },
  });
  await conversation.submit("go");
  await events.untilAny(["task_complete", "exec_approval_request"]);
  const asked = events.types().filter((type) => type.endsWith("_approval_request"));
  expect(asked).toEqual([]);
  const outputs = conversation
    .getHistory()
    .flatMap((item) => (item.type === "function_call_output" ? [item.output] : []));
  expect(commands).toHaveLength(30);
  expect(outputs.map(String).filter((output) => !output.startsWith("Exit code: 0\n"))).toEqual([]);
  expect(await readFile(join(cwd, "src/a.js"), "utf8")).toContain("two");
}, 120_000);
