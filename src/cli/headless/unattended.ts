import { parseOverride } from "../arguments/config-flags.js";
import { usageError } from "../command-error.js";
import type { SharedContext } from "../context.js";
import type { Terminal } from "../terminal/terminal.js";

/** Fills in the policies of a run in which nobody can be asked, and the key that programs for Codex pass. */
export function unattended<C extends SharedContext<"fullAuto" | "config" | "approvalPolicy" | "sandbox">>(
  context: C,
): C {
  const { flags, terminal } = context;
  const overridden = new Set((flags.config ?? []).map((text) => parseOverride(text).key));
  if (flags.fullAuto === true && (flags.sandbox !== undefined || flags.approvalPolicy !== undefined)) {
    throw usageError("--full-auto cannot be combined with --sandbox or --approval-policy");
  }
  const approval = overridden.has("approvalPolicy") ? {} : { approvalPolicy: "never" };
  const sandbox = overridden.has("sandbox.mode") ? {} : { sandbox: flags.fullAuto ? "workspace-write" : "read-only" };
  const codexKey = terminal.env["CODEX_API_KEY"];
  return {
    ...context,
    flags: { ...approval, ...sandbox, ...flags },
    terminal: codexKey ? withEnv(terminal, { ...terminal.env, OPENAI_API_KEY: codexKey }) : terminal,
  };
}

/** A terminal opens its streams when they are first read, so it must not be copied. */
function withEnv(terminal: Terminal, env: Terminal["env"]): Terminal {
  return Object.create(terminal, { env: { value: env } }) as Terminal;
}
