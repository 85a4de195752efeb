import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { saveConfig } from "../../src/config/files/save-config.js";
import type { Config } from "../../src/messages/settings/config.js";
import type { ModelRequest } from "../../src/messages/model.js";
import { messageText } from "../../src/messages/response-item.js";
import { isRealUserMessage } from "../../src/base/codex/context-message.js";
import { defineTool } from "../../src/tools/define-tool.js";
import type { Tool } from "../../src/tools/tool.js";
import { type FakeOptions, FakeTerminal } from "./cli-terminal.js";
import { calls, type Reply, scripted } from "./scripted-provider.js";
import { temporaryFolder } from "./temporary-folder.js";

export const ctrlC = "\u0003";
export const ctrlD = "\u0004";
export const prompt = "› ";
export const question = "y/a/n/s › ";
export const choices =
  "Allow? [y] yes, once  [a] always allow this command in this conversation  [n] no, or n and what to do instead  [s] no, and stop the turn\n";

interface Options extends FakeOptions {
  readonly config?: Config;
  readonly args?: readonly string[];
}

/** A terminal with a tool that has effects, and a list of the effects. */
export async function prepared(replies: Iterable<Reply>, options: Options = {}) {
  const runs: string[] = [];
  const effect = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({ what: z.string() }),
    command: ({ what }, { cwd }) => ({ argv: ["effect", what], cwd }),
    run: ({ what }) => {
      runs.push(what);
      return `did ${what}`;
    },
  });
  const model = scripted(replies);
  const terminal = await FakeTerminal.open(model, { ...options, tools: [effect, ...(options.tools ?? [])] });
  if (options.config !== undefined) await saveConfig(terminal.home, options.config);
  return { terminal, runs, model };
}

/** The same as `prepared`, at the prompt of an interactive run. */
export async function opened(replies: Iterable<Reply>, options: Options = {}) {
  const parts = await prepared(replies, options);
  const running = parts.terminal.run(...(options.args ?? []));
  await parts.terminal.shows(prompt);
  return { ...parts, running };
}

/** The home and project of a process that was killed at an approval request. */
export async function crashedAtQuestion(): Promise<FakeOptions> {
  const { terminal } = await opened([calls("effect", "c1", { what: "it" })]);
  terminal.type("go\r");
  await terminal.shows(question);
  return await leftBehind(terminal);
}

export async function leftBehind({ home, cwd }: FakeTerminal): Promise<FakeOptions> {
  const copy = await temporaryFolder();
  await mkdir(join(copy, "conversations"));
  for (const name of await readdir(join(home, "conversations"))) {
    if (name.endsWith(".jsonl")) await copyFile(join(home, "conversations", name), join(copy, "conversations", name));
  }
  return { home: copy, cwd };
}

export function userTexts(request: ModelRequest | undefined): string[] {
  return (request?.input ?? []).flatMap((item) =>
    item.type === "message" && isRealUserMessage(item) ? [messageText(item)] : [],
  );
}

/** A tool call that blocks until the gate opens or the turn is aborted. */
export class Gate {
  readonly reached: Promise<void>;
  readonly tool: Tool;
  #open: () => void = () => undefined;

  constructor({ readOnly }: { readOnly: boolean }) {
    let onReached: (() => void) | undefined;
    this.reached = new Promise((resolve) => (onReached = resolve));
    this.tool = defineTool({
      name: "wait",
      description: "",
      parameters: z.strictObject({}),
      readOnly,
      run: async (_args, { signal }) => {
        const isOpen = new Promise<void>((resolve) => (this.#open = resolve));
        signal.addEventListener("abort", () => this.open());
        onReached?.();
        await isOpen;
        return "waited";
      },
    });
  }

  open(): void {
    this.#open();
  }
}
