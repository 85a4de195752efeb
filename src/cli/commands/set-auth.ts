import { providerOfAuth } from "../../config/pick-provider.js";
import { saveConfig } from "../../config/save-config.js";
import { apiKey, keyVariable } from "../../config/vendors.js";
import { AuthMethod } from "../../messages/config.js";
import { usageError } from "../command-error.js";
import { type CommandContext, printResult } from "../context.js";
import { loadSettings } from "../load-settings.js";
import { tellSetAside } from "../tell-set-aside.js";

/** Remembers how to prove who we are, never the proof itself. */
export async function setAuthCommand(context: CommandContext): Promise<number> {
  const [text = ""] = context.args;
  const auth = AuthMethod.safeParse(text).data;
  if (auth === undefined) throw usageError(`Unknown method '${text}'`, `Methods: ${AuthMethod.options.join(", ")}`);
  await tellSetAside(context, await saveConfig(context.home, { auth }));
  await printResult(context, { text: `✓ Auth method set: ${auth}`, json: { auth } });
  const { values } = await loadSettings(context);
  const provider = providerOfAuth[auth];
  if (provider === undefined) {
    await context.tell(`This version cannot use ${auth} yet: it goes on with the key of the provider`);
  } else if (apiKey(provider, { env: context.terminal.env, providers: values.providers }) === undefined) {
    await context.tell(`${keyVariable(provider)} is not set yet`);
  }
  return 0;
}
