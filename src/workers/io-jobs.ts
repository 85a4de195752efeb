import type { WireApi } from "../messages/config.js";
import type { Credential } from "../providers/credential.js";
import type { SummaryOutcome, SummaryRequest } from "./summarize.js";

/** What the pool for waiting can do. */
export type IoJobs = {
  readonly summarize: {
    readonly input: { readonly target: SummaryTarget; readonly request: SummaryRequest };
    readonly output: SummaryOutcome;
  };
};

/** Which model is asked, as a thread can be told. */
export type SummaryTarget =
  | {
      readonly kind: "wire";
      readonly provider: string;
      readonly api: WireApi;
      /** Undefined: the vendor's own address. */
      readonly baseUrl: string | undefined;
      /** Undefined where none is needed. It is the job's alone, and in nothing that comes back. */
      readonly credential: Credential | undefined;
      /** Where the credential comes from and how to change it. */
      readonly origin?: string | undefined;
      /** The variables that name a proxy; others are not for a thread to know. */
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "offline" };
