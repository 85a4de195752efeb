import type { LoginName } from "../../config/providers/logins.js";
import { type BorrowedPlaces, borrowedTokens, type FoundTokens } from "./borrowed-tokens.js";
import { fingerprint } from "./token-claims.js";
import type { TokenStore } from "./token-file.js";

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

/** Identifies the tokens of another program that ours were derived from. */
export function originFingerprint({ tokens }: FoundTokens): string {
  return fingerprint(tokens.refreshToken ?? tokens.accessToken);
}
