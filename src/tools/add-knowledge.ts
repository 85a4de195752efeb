import { NewKnowledge } from "../messages/tools/knowledge.js";
import { defineTool } from "./define-tool.js";

export const addKnowledge = defineTool({
  name: "add_knowledge",
  description:
    "Saves a piece of knowledge about this project, which later conversations get when they start. For " +
    "patterns of the project, preferences of the user, decisions, discoveries and corrections of earlier behaviour.",
  parameters: NewKnowledge,
  readsOutside: false,
  run: async (entry, context) => {
    const { saveKnowledge } = context;
    if (saveKnowledge === undefined) return failed("Not saved: knowledge is turned off.");
    const outcome = await saveKnowledge(entry);
    if (outcome.status === "not_saved") return failed(`The knowledge was not saved: ${outcome.reason}`);
    const { id, type, content, source } = outcome.entry;
    context.emit({ type: "knowledge_saved", knowledge_id: id, content, source });
    return `Knowledge saved: [${type}] ${content}`;
  },
});

function failed(content: string): { content: string; success: false } {
  return { content, success: false };
}
