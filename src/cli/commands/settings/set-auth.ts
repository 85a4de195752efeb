import { borrowedPlaces, findTokens } from "../../../actors/credentials/find-tokens.js";
import { TokenStore } from "../../../actors/credentials/token-store.js";
import type { ConfigFlags } from "../../../config/load-config.js";
import { chosenLogin, type LoginFacts } from "../../../config/providers/logins.js";
import { providerOfAuth } from "../../../config/providers/choose-provider.js";
import { hasKey, keyVariable } from "../../../config/providers/vendors.js";
import { ApiKey, AuthMethod } from "../../../messages/settings/config.js";
import { changeConfig } from "./change-config.js";
import { usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { type Interruption, watchSignals } from "../../terminal/interruption.js";
import { loadSettings } from "../../load-settings.js";
import { readSecret } from "../../terminal/read-input.js";

/** Stores the authentication method; stores a key only if it is given with a dash. */
export async function setAuthCommand(context: ContextOf<"set-auth">): Promise<number> {
  const [text = "", given] = context.args;
  const auth = AuthMethod.safeParse(text).data;
  if (auth === undefined) throw usageError(`Unknown method '${text}'`, `Methods: ${AuthMethod.options.join(", ")}`);
  const provider = providerOfAuth[auth];
  const login = chosenLogin(auth, provider);
  const isKept = given !== undefined;
  if (isKept && login !== undefined) throw usageError(`${auth} does not use a key`);
  if (context.flags.keyring && !isKept) throw usageError("--keyring needs a key", usage(auth));
  using interruption = watchSignals(context.terminal);
  const key = isKept ? await keyFrom(context, auth, interruption) : undefined;
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  const change = key === undefined ? {} : await storeKey(context, provider, key);
  await changeConfig(context, { auth, ...change });
  await printResult(context, { text: `✓ Auth method set: ${auth}`, json: { auth } });
  if (login === undefined) await warnMissingKey(context, provider);
  else await warnMissingLogin(context, login);
  return 0;
}

function usage(auth: AuthMethod): string {
  return `To enter a key: cody set-auth ${auth} -`;
}

/** Only from stdin: arguments are visible in the shell's history and in the process list. */
async function keyFrom(context: ContextOf<"set-auth">, auth: AuthMethod, interruption: Interruption): Promise<string> {
  const [, given = ""] = context.args;
  context.hide([given]);
  if (given !== "-") throw usageError("Don't pass keys as arguments; other users can see them", usage(auth));
  const key = await readSecret(context, auth, interruption);
  if (interruption.exitCode !== undefined) return "";
  if (key === "") throw usageError("No key on stdin");
  context.hide([key]);
  const { error } = ApiKey.safeParse(key);
  if (error !== undefined) throw usageError(error.issues[0]?.message ?? "Invalid key");
  return key;
}

/** Also removes the key from its previous place in the configuration. */
async function storeKey(context: ContextOf<"set-auth">, provider: string, key: string): Promise<ConfigFlags> {
  if (!context.flags.keyring) return { providers: { [provider]: { apiKey: key, keyring: undefined } } };
  const { env, homedir } = context.terminal;
  await borrowedPlaces(env, () => homedir).keyring.keep(provider, key);
  return { providers: { [provider]: { apiKey: undefined, keyring: true } } };
}

async function warnMissingKey(context: ContextOf<"set-auth">, provider: string): Promise<void> {
  const { values } = await loadSettings(context);
  if (hasKey(provider, { env: context.terminal.env, providers: values.providers })) return;
  await context.tell(`${keyVariable(provider)} is not set yet`);
}

async function warnMissingLogin(context: ContextOf<"set-auth">, { name, title, remedy }: LoginFacts): Promise<void> {
  const { env, homedir } = context.terminal;
  const found = await findTokens(
    name,
    new TokenStore(context.home),
    borrowedPlaces(env, () => homedir),
  );
  if (found === undefined) await context.tell(`No ${title} found yet. ${remedy}`);
  if (name === "claude") await context.tell(restriction);
}

/** A warning, so that nobody learns about the restriction by losing their account. */
const restriction = [
  "Anthropic allows subscription tokens only in Claude Code and on claude.ai, and may reject them here",
  "or close the account. The supported way is an API key: cody set-auth anthropic-api-key",
].join("\n");
