import * as z from "zod";

/** What kind of knowledge an entry is; how much it weighs depends on it. */
export const KnowledgeType = z.enum(["pattern", "decision", "discovery", "preference", "correction"]);
export type KnowledgeType = z.infer<typeof KnowledgeType>;

/** Who saved an entry: a model with its tool, or a person with `cody knowledge add`. */
export const KnowledgeSource = z.enum(["model", "user"]);
export type KnowledgeSource = z.infer<typeof KnowledgeSource>;

/** A single entry must not take the room of all others. */
export const maxKnowledgeChars = 4_000;
const maxTags = 20;
const maxTagChars = 64;

const content = z.string().trim().min(1).max(maxKnowledgeChars);
const confidence = z.number().min(0).max(1);
const tags = z.array(z.string().trim().min(1).max(maxTagChars)).max(maxTags);

/** What is to be saved, as somebody says it. */
export const NewKnowledge = z.strictObject({
  type: KnowledgeType.describe(
    "pattern: how things are done here; decision: what was decided and why; discovery: what was found out; " +
      "preference: what the user likes; correction: what was done wrong before",
  ),
  content: content.describe("The knowledge itself, specific enough to act on without this conversation"),
  confidence: confidence.default(0.8).describe("How sure it is, from 0 to 1; 0.8 unless told"),
  tags: tags.optional(),
  supersedes: content.optional().describe("What it replaces: the id of that knowledge, or its exact text"),
});
export type NewKnowledge = z.infer<typeof NewKnowledge>;

/** One line of a project's knowledge. Other programs write it too, so that an id may be any word. */
export const KnowledgeEntry = z.object({
  /** Eight hexadecimal digits, when it is ours. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  timestamp: z
    .string()
    .max(64)
    .refine((text) => !Number.isNaN(Date.parse(text)), "expected a time"),
  /** The conversation it was saved in. */
  sessionId: z.string().max(200).optional(),
  /** Absent in entries of older versions and other programs; a value that is not known reads as absent. */
  source: KnowledgeSource.optional().catch(undefined),
  type: KnowledgeType,
  content,
  confidence,
  /** The id of the entry it replaces. */
  supersedes: z.string().max(64).optional(),
  tags: tags.optional(),
});
export type KnowledgeEntry = z.infer<typeof KnowledgeEntry>;
