import { borrowedPlaces, findTokens } from "../../../actors/credentials/find-tokens.js";
import { TokenStore } from "../../../actors/credentials/token-store.js";
import type { LoadedConfig } from "../../../config/load-config.js";
import { type LoginFacts, loginFacts, loginNames } from "../../../config/providers/logins.js";
import { providerOfAuth, providerOfKey } from "../../../config/providers/choose-provider.js";
import { keyVariable } from "../../../config/providers/vendors.js";
import { AuthMethod } from "../../../messages/settings/config.js";
import { exitCodes, usageError } from "../../command-error.js";
import { type CommandContext, printResult, currentTime } from "../../context.js";
import { localTime } from "../../format.js";
import { loadSettings } from "../../load-settings.js";
import { FailureError } from "../../../messages/failure-error.js";

const unknown = { account: null, plan: null, expiresAt: null, renewable: false, problem: null } as const;

/** Shows how cody would authenticate, without any secrets. */
export async function authCommand(context: CommandContext): Promise<number> {
  const [action = "status"] = context.args;
  if (action !== "status") throw usageError(`Unknown action '${action}'`, "Usage: cody auth status");
  const status = await authStatus(context);
  await printResult(context, { text: statusText(status), json: status });
  const inUse = status.methods.find(({ method }) => method === status.method);
  return inUse?.available === true ? 0 : exitCodes.failed;
}

function statusText({ method, methods }: AuthStatus): string {
  const inUse = methods.find((each) => each.method === method);
  const others = methods.filter((each) => each !== inUse && each.source !== null);
  return [
    ...(inUse === undefined ? ["Not authenticated: no API key or login found"] : statusLines(inUse)),
    ...(others.length === 0
      ? []
      : ["", "Other credentials (not in use):", ...others.map((other) => `  ${lineOf(other)}`)]),
  ].join("\n");
}

function statusLines(status: MethodStatus): string[] {
  const { method, provider, account, plan, expiresAt, renewable, source, problem } = status;
  const ends = expiresAt === null ? undefined : localTime(Date.parse(expiresAt));
  return [
    `Method: ${method} (${provider})`,
    ...(account === null ? [] : [`Account: ${account}${plan === null ? "" : ` (${plan})`}`]),
    ...(ends === undefined ? [] : [`Token expires: ${ends}${renewable ? " (renewed automatically)" : ""}`]),
    ...(source === null ? [] : [`Source: ${source}`]),
    ...(problem === null ? [] : [`✗ ${problem}`]),
  ];
}

function lineOf({ method, account, source, problem }: MethodStatus): string {
  return [method, account, source, problem].filter((part) => part !== null).join("  ");
}

/** One authentication method, without its secrets. */
interface MethodStatus {
  readonly method: AuthMethod;
  readonly provider: string;
  /** Whether requests can be sent with it. */
  readonly available: boolean;
  /** A file, a variable or the keyring. */
  readonly source: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly expiresAt: string | null;
  readonly renewable: boolean;
  readonly problem: string | null;
}

interface AuthStatus {
  /** The method used by default; null if there is none. */
  readonly method: AuthMethod | null;
  readonly methods: readonly MethodStatus[];
}

async function authStatus(context: CommandContext): Promise<AuthStatus> {
  const loaded = await loadSettings(context);
  const { auth, logins, providers } = loaded.values;
  const picked = providerOfKey({ env: context.terminal.env, providers, auth });
  const byKey = AuthMethod.safeParse(`${picked}-api-key`).data;
  const facts = loginNames.map((name) => loginFacts(name, logins));
  const methods = await Promise.all(
    AuthMethod.options.map(async (method) => {
      const login = facts.find((each) => each.method === method);
      return login === undefined ? keyStatus(context, loaded, method) : await loginStatus(context, login);
    }),
  );
  return { method: auth ?? byKey ?? null, methods };
}

function keyStatus(context: CommandContext, { values, file }: LoadedConfig, method: AuthMethod): MethodStatus {
  const provider = providerOfAuth[method];
  const entry = values.providers?.[provider];
  const variable = keyVariable(provider);
  const inEnvironment = (context.terminal.env[variable] ?? "").trim() !== "";
  const places = [
    [entry?.keyring === true, "keyring"],
    [entry?.apiKey !== undefined, file],
    [inEnvironment, variable],
  ] as const;
  const source = places.find(([isThere]) => isThere)?.[1] ?? null;
  const problem = source === null && values.auth === method ? `${variable} is not set` : null;
  return { method, provider, available: source !== null, source, ...unknown, problem };
}

async function loginStatus(context: CommandContext, facts: LoginFacts): Promise<MethodStatus> {
  const { method, provider, title, remedy } = facts;
  const none = { method, provider, available: false, source: null, ...unknown };
  const { env, homedir } = context.terminal;
  try {
    const found = await findTokens(
      facts.name,
      new TokenStore(context.home),
      borrowedPlaces(env, () => homedir),
    );
    if (found === undefined) return { ...none, problem: `no ${title} found. ${remedy}` };
    const { tokens, source } = found;
    const { expiresAt, refreshToken, email = null, plan = null } = tokens;
    const renewable = refreshToken !== undefined;
    const hasEnded = expiresAt !== undefined && expiresAt <= currentTime(context) && !renewable;
    return {
      ...none,
      available: !hasEnded,
      source,
      account: email,
      plan,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
      renewable,
      problem: hasEnded ? `the ${title} has expired. ${remedy}` : null,
    };
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    return { ...none, problem: error.message };
  }
}
