import * as z from "zod";
import { Failure } from "../failure.js";
import { LoginName } from "../tokens.js";

/** Every message that the credentials actor accepts. */
export const CredentialsOp = z.discriminatedUnion("type", [
  z.object({ type: z.literal("token"), login: LoginName }),
  /** Asks for a token that differs from the one a server has just refused. */
  z.object({ type: z.literal("renew"), login: LoginName, refused: z.string() }),
  /** Asks for an API key in the system keyring. */
  z.object({ type: z.literal("kept_key"), provider: z.string() }),
]);
export type CredentialsOp = z.infer<typeof CredentialsOp>;

/** A login token as it is sent to a provider. */
export const LoginToken = z.object({
  token: z.string(),
  /** Headers that the server requires besides the token, such as an account id. */
  headers: z.record(z.string(), z.string()),
});
export type LoginToken = z.infer<typeof LoginToken>;

export const TokenReply = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), token: LoginToken }),
  z.object({ ok: z.literal(false), failure: Failure }),
]);
export type TokenReply = z.infer<typeof TokenReply>;

export const CredentialsAnswers = z.object({
  token: TokenReply,
  renew: TokenReply,
  /** Without a key, there is none or the keyring is locked. */
  kept_key: z.object({ key: z.string().optional() }),
});
export type CredentialsAnswers = z.infer<typeof CredentialsAnswers>;

/** Events of the credentials actor. They may contain secrets, so they must not be logged or written to a file. */
export const CredentialsEvent = z.discriminatedUnion("type", [
  /** A problem for the user that does not stop the work. */
  z.object({ type: z.literal("warning"), message: z.string() }),
  /** A token or key was found or received. Every thread that writes text to disk has to redact it. */
  z.object({ type: z.literal("secret_learned"), secret: z.string() }),
]);
export type CredentialsEvent = z.infer<typeof CredentialsEvent>;
