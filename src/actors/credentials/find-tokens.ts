import type { LoginName } from "../../config/providers/logins.js";
import { type BorrowedPlaces, borrowedTokens, type FoundTokens } from "./borrowed-tokens.js";
import { fingerprint } from "./token-claims.js";
import type { TokenStore } from "./token-file.js";

/** The tokens that are kept by now: cody's own, unless another program has newer ones than those they came from. */
export async function findTokens(
  login: LoginName,
  store: TokenStore,
  places: BorrowedPlaces,
): Promise<FoundTokens | undefined> {
  const [own, borrowed] = await Promise.all([store.read(login), borrowedTokens(login, places)]);
  if (own === undefined) return borrowed;
  const isBehind = own.root !== undefined && borrowed !== undefined && own.root !== rootOf(borrowed);
  return isBehind ? borrowed : { tokens: own, source: store.path };
}

/** Which tokens of another program ours come from. */
export function rootOf({ tokens }: FoundTokens): string {
  return fingerprint(tokens.refreshToken ?? tokens.accessToken);
}
