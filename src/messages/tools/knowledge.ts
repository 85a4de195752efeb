import * as z from "zod";

/** The kind of a knowledge entry, which affects its weight. */
export const KnowledgeType = z.enum(["pattern", "decision", "discovery", "preference", "correction"]);
export type KnowledgeType = z.infer<typeof KnowledgeType>;

/** The author of an entry: a model with its tool, or a person with `cody knowledge add`. */
export const KnowledgeSource = z.enum(["model", "user"]);
export type KnowledgeSource = z.infer<typeof KnowledgeSource>;

/** Limits one entry, so that it cannot take the space of all others. */
export const maxKnowledgeChars = 4_000;
const maxTags = 20;
const maxTagChars = 64;

const content = z.string().trim().min(1).max(maxKnowledgeChars);
const confidence = z.number().min(0).max(1);
const tags = z.array(z.string().trim().min(1).max(maxTagChars)).max(maxTags);

/** Knowledge to be saved, as given by a model or a person. */
export const NewKnowledge = z.strictObject({
  type: KnowledgeType.describe(
    "pattern: how things are done here; decision: what was decided and why; discovery: what was found out; " +
      "preference: what the user likes; correction: what was done wrong before",
  ),
  content: content.describe("The knowledge itself, specific enough to act on without this conversation"),
  confidence: confidence.default(0.8).describe("Confidence from 0 to 1; 0.8 by default"),
  tags: tags.optional(),
  supersedes: content.optional().describe("The entry it replaces: its id or its exact text"),
});
export type NewKnowledge = z.infer<typeof NewKnowledge>;

/** One line of a project's knowledge file. Other programs write it too, so an id may be any word. */
export const KnowledgeEntry = z.object({
  /** Eight hexadecimal digits in entries written by cody. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  timestamp: z
    .string()
    .max(64)
    .refine((text) => !Number.isNaN(Date.parse(text)), "expected a time"),
  /** The conversation in which the entry was saved. */
  sessionId: z.string().max(200).optional(),
  /** Absent in entries of older versions and other programs; an unknown value reads as absent. */
  source: KnowledgeSource.optional().catch(undefined),
  type: KnowledgeType,
  content,
  confidence,
  /** The id of the entry this one replaces. */
  supersedes: z.string().max(64).optional(),
  tags: tags.optional(),
});
export type KnowledgeEntry = z.infer<typeof KnowledgeEntry>;
