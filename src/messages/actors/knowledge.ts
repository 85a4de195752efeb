import * as z from "zod";
import { KnowledgeEntry, NewKnowledge } from "../tools/knowledge.js";

/** The folder of the project. */
const root = z.string();

/** Every message about the knowledge of a project. */
export const KnowledgeOp = z.discriminatedUnion("type", [
  /** Asks for the section of the system prompt. */
  z.object({ type: z.literal("section"), root, budgetTokens: z.number().int().nonnegative() }),
  z.object({ type: z.literal("add"), root, entry: NewKnowledge, conversationId: z.string() }),
]);
export type KnowledgeOp = z.infer<typeof KnowledgeOp>;

/** The knowledge section of the prompt; `version` changes when the section does. */
export const KnowledgeSection = z.object({
  section: z.string(),
  /** Problems with the file, for the user. */
  problems: z.array(z.string()),
  version: z.string(),
});
export type KnowledgeSection = z.infer<typeof KnowledgeSection>;

export const AddOutcome = z.discriminatedUnion("status", [
  z.object({ status: z.literal("saved"), entry: KnowledgeEntry }),
  z.object({ status: z.literal("not_saved"), reason: z.string() }),
]);
export type AddOutcome = z.infer<typeof AddOutcome>;

export const KnowledgeAnswers = z.object({ section: KnowledgeSection, add: AddOutcome });
export type KnowledgeAnswers = z.infer<typeof KnowledgeAnswers>;
