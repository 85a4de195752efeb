import { TokenStore } from "../../../actors/credentials/token-store.js";
import { chosenLogin } from "../../../config/providers/logins.js";
import { providerOfAuth } from "../../../config/providers/choose-provider.js";
import { changeConfig } from "./change-config.js";
import { type CommandContext, printResult } from "../../context.js";
import { loadSettings } from "../../load-settings.js";

/** Deletes cody's own tokens and deselects the login. Tokens of other programs are not touched. */
export async function logoutCommand(context: CommandContext): Promise<number> {
  const { values } = await loadSettings(context);
  const { auth } = values;
  const hadTokens = await new TokenStore(context.home).forget();
  if (auth !== undefined && chosenLogin(auth, providerOfAuth[auth]) !== undefined) {
    await changeConfig(context, { auth: undefined });
  }
  await printResult(context, {
    text: hadTokens ? "✓ Logged out: cody's tokens were deleted" : "✓ Not logged in: there were no tokens to delete",
    json: { hadTokens },
  });
  return 0;
}
