import type { LoginToken } from "../messages/actors/credentials.js";
import { AnswerError } from "./failures/answer-error.js";

export type { LoginToken };

/** An API key, or a login token. */
export type Credential = string | LoginToken;

/** Supplies the credential for a provider. Throws a `FailureError` if there is none to be had. */
export interface Access {
  /**
   * Sentences that explain where the credential comes from and how to change it, for the message about a rejected one.
   */
  readonly origin?: string | undefined;
  /** Called before every request; returns undefined if none is needed, as for a server on this machine. */
  credential(signal: AbortSignal): Credential | undefined | Promise<Credential | undefined>;
  /** For login tokens, which expire: returns a different token than the one the server just rejected. */
  renewed?(refused: LoginToken, signal: AbortSignal): Promise<LoginToken>;
}

export function secretOf(credential: Credential | undefined): string | undefined {
  return typeof credential === "object" ? credential.token : credential;
}

/** Sends a request with a credential. If the server rejects a login token, sends it once more with a renewed one. */
export async function sentWithCredential<T>(
  access: Access,
  send: (credential: Credential | undefined) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const credential = await access.credential(signal);
  try {
    return await send(credential);
  } catch (error) {
    if (
      typeof credential !== "object" ||
      access.renewed === undefined ||
      !(error instanceof AnswerError && error.status === 401)
    )
      throw error;
    return await send(await access.renewed(credential, signal));
  }
}
