import { AnswerError } from "./failures/answer-error.js";

/** The token of a login, as it is sent. Plain data: it may go to a thread. */
export interface LoginToken {
  readonly token: string;
  /** What a server wants to hear besides a token, such as whose it is. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What proves who asks: a key, or the token of a login. */
export type Credential = string | LoginToken;

/** How a provider is told who asks. What cannot be had is a `FailureError`. */
export interface Access {
  /** Where the credential comes from and how to change it, in sentences for the message about a rejected one. */
  readonly origin?: string | undefined;
  /** Asked before every request; undefined where none is needed, as by a server on this machine. */
  credential(signal: AbortSignal): Credential | undefined | Promise<Credential | undefined>;
  /** For tokens, which end: another one than the server has just refused. */
  renewed?(refused: LoginToken, signal: AbortSignal): Promise<LoginToken>;
}

export function secretOf(credential: Credential | undefined): string | undefined {
  return typeof credential === "object" ? credential.token : credential;
}

/** Sends a request with a credential; where the server refuses the token of a login, once more with another. */
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
