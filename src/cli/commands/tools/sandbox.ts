import { homedir } from "node:os";
import { resolveHomes } from "../../../config/paths.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { visible } from "../../../base/text/visible.js";
import { Sandboxes } from "../../../sandbox/sandboxes.js";
import { runCommand } from "../../../tools/exec/run-command.js";
import { toolEnv } from "../../../tools/exec/tool-env.js";
import { exitCodeOf } from "../../../tools/shell.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { loadSettings } from "../../load-settings.js";
import { watchSignals } from "../../terminal/interruption.js";

const usage = "Usage: cody sandbox [status | run -- COMMAND [ARGUMENT...]]";

/** The longest timer that Node supports: the command may run as long as it wants. */
const noTimeoutMs = 2 ** 31 - 1;

export async function sandboxCommand(context: ContextOf<"sandbox">): Promise<number> {
  const [action = "status", ...command] = context.args;
  if (action === "status" && command.length === 0) return await showStatus(context);
  if (action !== "run") throw usageError(`Unknown action '${[action, ...command].join(" ")}'`, usage);
  if (command.length === 0) throw usageError("Missing command", usage);
  return await run(context, command);
}

/** Says whether commands in this folder would run in the sandbox, and with which access. */
async function showStatus(context: ContextOf<"sandbox">): Promise<number> {
  const { sandboxes, sandbox, env } = await open(context);
  const { status, spec } = await sandboxes.describe({ cwd: context.terminal.cwd, sandbox });
  const lines =
    spec === undefined
      ? []
      : [
          `mode: ${sandbox}`,
          `writable: ${[...(spec.mode === "read-only" ? [] : [spec.workspace, ...spec.writableRoots]), "/tmp (private)"].join(", ")}`,
          `network: ${spec.network}`,
          `unix sockets: ${spec.unixSockets}`,
          `environment: ${Object.keys(env).toSorted().join(", ")}`,
        ];
  const state = status.works ? `works: ${status.detail}` : `does not work: ${status.reason}`;
  await printResult(context, {
    text: [`Sandbox ${visible(state)}`, ...lines.map((line) => `  ${visible(line)}`)].join("\n"),
    json: { ...status, mode: sandbox, ...spec },
  });
  return status.works ? 0 : exitCodes.failed;
}

/** Runs a command as a conversation in this folder would; nothing runs if there is no sandbox. */
async function run(context: ContextOf<"sandbox">, argv: readonly string[]): Promise<number> {
  const { terminal } = context;
  const { sandboxes, sandbox: mode, env } = await open(context);
  using interruption = watchSignals(terminal);
  try {
    const { status, sandbox } = await sandboxes.open({ conversationId: "", cwd: terminal.cwd, sandbox: mode });
    if (sandbox === undefined) {
      throw new CommandError(`No sandbox: ${status.works ? "" : status.reason}`, exitCodes.failed, [
        "Nothing was run.",
      ]);
    }
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    const end = await runCommand({
      argv,
      cwd: sandbox.spec.workspace,
      env,
      timeoutMs: noTimeoutMs,
      signal: interruption.signal,
      sandbox,
      onOutput: (name, bytes) => void terminal[name].writeExact(decoders[name].decode(bytes, { stream: true })),
    });
    return interruption.exitCode ?? (end === undefined ? exitCodes.interrupted : exitCodeOf(end));
  } finally {
    await sandboxes.close();
  }
}

async function open(context: ContextOf<"sandbox">) {
  const { home, terminal } = context;
  const { values } = await loadSettings(context);
  const { env } = terminal;
  const homes = resolveHomes({ home, env, homedir });
  const sandboxes = new Sandboxes({ homes, config: values, env });
  return { sandboxes, sandbox: effectiveSetting(values, "sandbox.mode"), env: toolEnv(env, values.toolEnv) };
}
