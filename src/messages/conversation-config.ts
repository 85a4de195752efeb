import * as z from "zod";
import { Config } from "./config.js";

const { provider, api, model, baseUrl, auth, approvalPolicy, sandbox } = Config.shape;
const own = {
  provider,
  api,
  model,
  baseUrl,
  auth,
  approvalPolicy,
  sandbox,
  /** Kept verbatim; a conversation whose id is no UUID cannot be read by Codex. */
  id: z.string().optional(),
  /** How a new one is called: 1 to 100 printable characters. */
  name: z.string().optional(),
  /**
   * The folder it works in, where tools may write; a relative one starts at the manager's, which is used without it.
   * On resuming and forking `recorded` means the folder of the last turn, as the file says it.
   */
  cwd: z.string().min(1).optional(),
  effort: z.string().optional(),
  /** Open it also where the key of its provider is missing: to look at it, or to copy it. */
  withoutKey: z.boolean().optional(),
};

/** What one conversation may say differently from the configuration; other settings are its manager's. */
export const ConversationConfig = z.strictObject(own, {
  error: ({ code, keys }) => {
    const known = code === "unrecognized_keys" && keys.find((key) => key in Config.shape);
    return known ? `${known} is not set for one conversation: it belongs in the manager's config` : undefined;
  },
});
export type ConversationConfig = Readonly<z.infer<typeof ConversationConfig>>;

export const ResumeConfig = ConversationConfig.omit({ id: true, name: true }).extend({
  /** Go on although nobody has said anything yet. */
  allowEmpty: z.boolean().optional(),
  /** Take it although its owner, on another machine or in another container, cannot be proved dead. */
  force: z.boolean().optional(),
});
export type ResumeConfig = Readonly<z.infer<typeof ResumeConfig>>;

export const ForkConfig = ConversationConfig.extend({
  /** So many turns are taken over; all of them without it. */
  afterTurn: z.number().optional(),
});
export type ForkConfig = Readonly<z.infer<typeof ForkConfig>>;
