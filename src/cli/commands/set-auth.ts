import { saveConfig } from "../../config/save-config.js";
import { AuthMethod } from "../../messages/config.js";
import { usageError } from "../command-error.js";
import { type CommandContext, printResult } from "../context.js";
import { tellSetAside } from "../tell-set-aside.js";

/** The variable a method takes its key from; the others read the files of another program's login. */
const keyVariables: Readonly<Partial<Record<AuthMethod, string>>> = {
  "openai-api-key": "OPENAI_API_KEY",
  "anthropic-api-key": "ANTHROPIC_API_KEY",
};

/** Remembers how to prove who we are, never the proof itself. */
export async function setAuthCommand(context: CommandContext): Promise<number> {
  const [text = ""] = context.args;
  const auth = AuthMethod.safeParse(text).data;
  if (auth === undefined) throw usageError(`Unknown method '${text}'`, `Methods: ${AuthMethod.options.join(", ")}`);
  await tellSetAside(context, await saveConfig(context.home, { auth }));
  await printResult(context, { text: `✓ Auth method set: ${auth}`, json: { auth } });
  const variable = keyVariables[auth];
  if (variable !== undefined && !context.terminal.env[variable]) await context.tell(`${variable} is not set yet`);
  return 0;
}
