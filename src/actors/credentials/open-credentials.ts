import { homedir } from "node:os";
import type { TokenSet } from "../../messages/tokens.js";
import { createTransport } from "../../providers/transport/node-transport.js";
import { spawn } from "../runtime/spawn.js";
import { within } from "../../base/time/waiting.js";
import type { Ref } from "../runtime/actor.js";
import { borrowedPlaces } from "./borrowed-tokens.js";
import { credentials, type CredentialsAnswers, type CredentialsOp } from "./credentials.js";
import { renewalMs } from "./login-keeper.js";
import { TokenStore } from "./token-file.js";
import type { AccessOptions } from "./access-options.js";

export interface OpenCredentials {
  readonly ref: Ref<CredentialsOp, CredentialsAnswers>;
  /** Waits for renewals in progress: if their answer were lost, the login would be lost too. */
  stop(): Promise<void>;
}

/** Starts the credentials actor, with the connection it uses to renew tokens. */
export function openCredentials({ home, env, config, now, warn, learn }: AccessOptions): OpenCredentials {
  const renewals = new Set<Promise<TokenSet>>();
  const transport = createTransport(env);
  const options = {
    logins: config.logins,
    store: new TokenStore(home),
    places: borrowedPlaces(env, homedir),
    fetch: transport.fetch,
    now,
    learn,
    onRenewal: (renewal: Promise<TokenSet>): void => {
      renewals.add(renewal);
      const forget = (): boolean => renewals.delete(renewal);
      void renewal.then(forget, forget);
    },
  };
  const ref = spawn(credentials, options, { onEvent: ({ msg }) => warn(msg.message) });
  return {
    ref,
    stop: async () => {
      await ref.stop();
      // The actor's own stop is bounded more tightly than a slow server needs to answer.
      await within(Promise.allSettled(renewals), renewalMs);
      transport.close();
    },
  };
}
