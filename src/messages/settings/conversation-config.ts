import * as z from "zod";
import { Config } from "./config.js";
import { SandboxMode } from "../tools/policy.js";

const { provider, api, model, baseUrl, auth, approvalPolicy } = Config.shape;
const own = {
  provider,
  api,
  model,
  baseUrl,
  auth,
  approvalPolicy,
  sandbox: SandboxMode.optional(),
  /** Kept verbatim. Codex cannot read a conversation whose id is not a UUID. */
  id: z.string().optional(),
  /** The name of a new conversation: 1 to 100 printable characters. */
  name: z.string().optional(),
  /**
   * The folder the conversation works in, where tools may write. A relative path starts at the manager's folder, which
   * is also the default. When resuming and forking, `recorded` means the folder of the last turn, as the file records
   * it.
   */
  cwd: z.string().min(1).optional(),
  effort: z.string().optional(),
  /** Opens the conversation even if its provider's key is missing, to inspect or copy it. */
  withoutKey: z.boolean().optional(),
};

/** The settings that one conversation may override; all others belong to its manager. */
export const ConversationConfig = z.strictObject(own, {
  error: ({ code, keys }) => {
    const known = code === "unrecognized_keys" && keys.find((key) => key in Config.shape);
    return known ? `${known} cannot be set for one conversation: pass it in the manager's config` : undefined;
  },
});
export type ConversationConfig = Readonly<z.infer<typeof ConversationConfig>>;

export const ResumeConfig = ConversationConfig.omit({ id: true, name: true }).extend({
  /** Resumes the conversation although it has no turns yet. */
  allowEmpty: z.boolean().optional(),
  /** Takes over the conversation although its owner, on another machine or container, cannot be proved dead. */
  force: z.boolean().optional(),
});
export type ResumeConfig = Readonly<z.infer<typeof ResumeConfig>>;

export const ForkConfig = ConversationConfig.extend({
  /** The number of turns to copy; all of them by default. */
  afterTurn: z.number().optional(),
});
export type ForkConfig = Readonly<z.infer<typeof ForkConfig>>;
