import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import type { EventMsg } from "../../messages/event.js";
import type { Plan } from "../../messages/tools/plan.js";

type Status = Plan["plan"][number]["status"];

export const planTitle = "Plan";

const marks = { pending: "☐", in_progress: "▸", completed: "✔" } satisfies Record<Status, string>;

const maxKnowledgeChars = 500;

/** A line of a plan: its explanation without a mark, or a step. */
interface PlanRow {
  readonly mark: string;
  readonly text: string;
  readonly status: Status | undefined;
}

export function planRows({ explanation, plan }: Plan): PlanRow[] {
  const why = explanation ? [{ mark: "", text: visible(explanation), status: undefined }] : [];
  return [...why, ...plan.map(({ step, status }) => ({ mark: marks[status], text: visible(step), status }))];
}

/** Saved knowledge, and how to remove it if a model has saved it. */
export function knowledgeText(msg: Extract<EventMsg, { type: "knowledge_saved" }>): string[] {
  const saved = `💡 Knowledge saved: ${shortened(visible(msg.content), maxKnowledgeChars)}`;
  return msg.source === "model" ? [saved, `Undo: cody knowledge undo ${visible(msg.knowledge_id)}`] : [saved];
}
