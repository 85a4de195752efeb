import { execFile, execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type * as Testing from "../../src/public/testing.js";
import { promisify } from "node:util";
import { PtyProgram } from "../../test/terminal/support/pty-program.js";

const root = process.cwd();
const main = join(root, "dist/cli/main.cjs");
const { startMockLlm } = (await import(`${root}/dist/testing.js`)) as typeof Testing;

export type Replies = NonNullable<Testing.MockLlmOptions["script"]>;

/** A home with a small project in it, and a mock server: where a situation is played. */
export class Stage implements AsyncDisposable {
  readonly project: string;
  readonly #home: string;
  readonly #mock: Testing.MockLlm;
  readonly #programs: PtyProgram[] = [];

  private constructor(home: string, project: string, mock: Testing.MockLlm) {
    this.#home = home;
    this.project = project;
    this.#mock = mock;
  }

  static async open(script: Replies): Promise<Stage> {
    const home = await mkdtemp(join(tmpdir(), "cody-stage-"));
    const project = join(home, "tides");
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(project, name)), { recursive: true });
      await writeFile(join(project, name), text);
    }
    const git = (...args: string[]): unknown => execFileSync("git", args, { cwd: project, stdio: "ignore" });
    const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    git("init", "-q", "-b", "spring-tides");
    git("add", ".");
    git(...author, "commit", "-q", "-m", "Tide times");
    return new Stage(home, project, await startMockLlm({ script }));
  }

  /** Starts cody, with a terminal of this size. */
  cody(size: { readonly columns: number; readonly rows: number }): PtyProgram {
    const program = PtyProgram.start([process.execPath, main], { ...size, cwd: this.project, env: this.#env });
    this.#programs.push(program);
    return program;
  }

  /** Runs a command of cody to its end. */
  async run(...args: string[]): Promise<void> {
    await promisify(execFile)(process.execPath, [main, ...args], { cwd: this.project, env: this.#env });
  }

  get #env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      HOME: this.#home,
      CODY_HOME: join(this.#home, ".cody"),
      OPENAI_API_KEY: "mock",
      OPENAI_BASE_URL: `${this.#mock.url}/v1`,
      TERM: "xterm-256color",
      COLORTERM: "truecolor",
      LANG: "C.UTF-8",
      TZ: "UTC",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]();
    await this.#mock.close();
    await rm(this.#home, { recursive: true, force: true });
  }
}

const files = {
  "package.json": `{ "name": "tides", "type": "module", "scripts": { "test": "node --test" } }\n`,
  "README.md": "# tides\n\nHigh and low water for a harbour.\n",
  ".gitignore": "node_modules\n",
  "src/tide.js": `const lunarDay = 24 * 60 + 50;

/** Minutes until the next high water. */
export function nextHighWater(now, lastHighWater) {
  const passed = now - lastHighWater;
  return lunarDay / 2 - passed;
}
`,
  "src/harbour.js": `export const harbours = ["Brest", "Emden", "Hoek van Holland"];\n`,
  "test/tide.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { nextHighWater } from "../src/tide.js";

test("the next high water is half a lunar day after the last", () => {
  assert.equal(nextHighWater(0, 0), 745);
});
`,
};
