import * as z from "zod";

export const RuleDecision = z.enum(["allow", "ask", "deny"]);
export type RuleDecision = z.infer<typeof RuleDecision>;

const maxRules = 2_000;

const RuleText = z.string().min(1).max(2_000);

/** A rule, with commands, paths or tools that it must match and must not match. They are checked when it is loaded. */
export const WrittenRule = z.union([
  RuleText,
  z.strictObject({
    rule: RuleText,
    match: z.array(RuleText).max(100).optional(),
    notMatch: z.array(RuleText).max(100).optional(),
    /** Shown where the rule is the reason for a question or a refusal. */
    because: z.string().max(500).optional(),
  }),
]);
export type WrittenRule = z.infer<typeof WrittenRule>;

const lists = {
  allow: z.array(WrittenRule).max(maxRules).optional(),
  ask: z.array(WrittenRule).max(maxRules).optional(),
  deny: z.array(WrittenRule).max(maxRules).optional(),
};

/** Rules by their decision, in the grammar of docs/permissions.md. */
export const RuleLists = z.strictObject(lists);
export type RuleLists = z.infer<typeof RuleLists>;

/** The file `permissions.json` in cody's home. */
export const PermissionsFile = z.strictObject({
  ...lists,
  /** More rules for single projects, by the real path of their root. */
  projects: z.record(z.string().startsWith("/"), RuleLists).optional(),
});
export type PermissionsFile = z.infer<typeof PermissionsFile>;
