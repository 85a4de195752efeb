import type { CredentialsAnswers, CredentialsOp } from "../../messages/actors/credentials.js";
import type { Ref } from "../runtime/actor.js";
import type { CredentialsStartOptions } from "./credentials.js";

/** Starts the credentials actor with its first message: most users have an API key and never need it. */
export function startCredentials(options: CredentialsStartOptions): Ref<CredentialsOp, CredentialsAnswers> {
  let opened: Promise<Ref<CredentialsOp, CredentialsAnswers>> | undefined;

  function open(): Promise<Ref<CredentialsOp, CredentialsAnswers>> {
    opened ??= import("./credentials.js").then(({ openCredentials }) => openCredentials(options));
    return opened;
  }

  return {
    tell: async (op) => await (await open()).tell(op),
    ask: async (op, signal) => await (await open()).ask(op, signal),
    stop: async () => await (await opened)?.stop(),
  };
}
