import type { WireApi } from "../messages/config.js";
import type { Credential } from "../providers/credential.js";
import type { SummaryOutcome, SummaryRequest } from "./summarize.js";

/** The jobs of the pool for waiting. */
export type IoJobs = {
  readonly summarize: {
    readonly input: { readonly target: SummaryTarget; readonly request: SummaryRequest };
    readonly output: SummaryOutcome;
  };
};

/** The model to ask, as plain data for a thread. */
export type SummaryTarget =
  | {
      readonly kind: "wire";
      readonly provider: string;
      readonly api: WireApi;
      /** Undefined: the vendor's default address. */
      readonly baseUrl: string | undefined;
      /** Undefined if none is needed. Only this job may use it, and no outcome contains it. */
      readonly credential: Credential | undefined;
      /** Explains where the credential comes from and how to change it. */
      readonly origin?: string | undefined;
      /** The proxy variables; a thread must not see the rest of the environment. */
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "offline" };
