import { join } from "node:path";
import { resolveClaudeHome, resolveCodexHome } from "../../config/paths.js";
import type { LoginName } from "../../config/providers/logins.js";
import { ClaudeCredentialsFile, CodexAuthFile, type TokenSet } from "../../messages/tokens.js";
import { Keyring } from "./keyring.js";
import { accountOf, expiryOf, fingerprint } from "./oauth-tokens.js";
import { readBorrowed, type TokenStore } from "./token-store.js";

export interface BorrowedPlaces {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly codexHome: string | undefined;
  readonly claudeHome: string | undefined;
  readonly keyring: Keyring;
}

/** Tokens, with a description of their location for the user. */
export interface FoundTokens {
  readonly tokens: TokenSet;
  readonly source: string;
}

/** Returns cody's own tokens, unless another program has newer ones than those ours were derived from. */
export async function findTokens(
  login: LoginName,
  store: TokenStore,
  places: BorrowedPlaces,
): Promise<FoundTokens | undefined> {
  const [own, borrowed] = await Promise.all([store.read(login), borrowedTokens(login, places)]);
  if (own === undefined) return borrowed;
  const isBehind = own.root !== undefined && borrowed !== undefined && own.root !== originFingerprint(borrowed);
  return isBehind ? borrowed : { tokens: own, source: store.path };
}

/** Reads the tokens of another program and never changes them; undefined when there are none in a known format. */
async function borrowedTokens(login: LoginName, places: BorrowedPlaces): Promise<FoundTokens | undefined> {
  return login === "chatgpt" ? await codexTokens(places) : await claudeTokens(places);
}

async function codexTokens({ codexHome: home }: BorrowedPlaces): Promise<FoundTokens | undefined> {
  if (home === undefined) return undefined;
  const path = join(home, "auth.json");
  const { tokens } = CodexAuthFile.safeParse(valueOf(await readBorrowed(path))).data ?? {};
  if (tokens === undefined || tokens === null) return undefined;
  const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken, account_id: accountId } = tokens;
  const expiresAt = expiryOf(accessToken);
  return {
    source: path,
    tokens: {
      ...accountOf(idToken),
      accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(typeof accountId === "string" ? { accountId } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
  };
}

/** Uses Claude Code's order: the environment variable for programs, then its file, then its keychain entry. */
async function claudeTokens({ env, claudeHome: home, keyring }: BorrowedPlaces): Promise<FoundTokens | undefined> {
  const token = env["CLAUDE_CODE_OAUTH_TOKEN"]?.trim() ?? "";
  if (token !== "") return { source: "CLAUDE_CODE_OAUTH_TOKEN", tokens: { accessToken: token } };
  const path = home === undefined ? undefined : join(home, ".credentials.json");
  const inFile = path === undefined ? undefined : claudeTokensIn(await readBorrowed(path));
  if (path !== undefined && inFile !== undefined) return { source: path, tokens: inFile };
  const inKeychain = claudeTokensIn(await keyring.claudeCredentials());
  return inKeychain === undefined ? undefined : { source: "keychain: Claude Code-credentials", tokens: inKeychain };
}

function claudeTokensIn(text: string | undefined): TokenSet | undefined {
  const { claudeAiOauth: found } = ClaudeCredentialsFile.safeParse(valueOf(text)).data ?? {};
  if (found === undefined || found === null) return undefined;
  const { accessToken, refreshToken, expiresAt, subscriptionType } = found;
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(typeof expiresAt === "number" ? { expiresAt } : {}),
    ...(typeof subscriptionType === "string" ? { plan: subscriptionType } : {}),
  };
}

/** Invalid JSON counts as no tokens: the file belongs to another program, and we cannot repair it. */
function valueOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Locates the credentials of other programs for this environment. */
export function borrowedPlaces(env: BorrowedPlaces["env"], homedir: () => string): BorrowedPlaces {
  const homes = { codexHome: resolveCodexHome({ env, homedir }), claudeHome: resolveClaudeHome({ env, homedir }) };
  return { env, ...homes, keyring: new Keyring(env) };
}

/** Identifies the tokens of another program that ours were derived from. */
export function originFingerprint({ tokens }: FoundTokens): string {
  return fingerprint(tokens.refreshToken ?? tokens.accessToken);
}
