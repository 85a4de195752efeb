import type { ResponseItem } from "../../messages/response-item.js";
import { collectUserMessages } from "../item-kinds.js";
import { sentencesOf } from "./summary-text.js";

/** Facts that a summary must not lose. */
export interface MustKeep {
  /** The user's demands and prohibitions, verbatim. */
  readonly rules: readonly string[];
  /** The latest plan written by the model. */
  readonly plan: string | undefined;
}

const maxRules = 20;
const maxRuleChars = 300;
const maxPlanChars = 2_000;

const rule = /\b(?:always|never|must|mustn['’]t|do not|don['’]t|only|prefer|avoid|make sure|ensure)\b/i;
const headings = { rules: "## Constraints", plan: "## Current Plan" } as const;

/** Collects these facts from the items to summarize and from the sections added to the earlier summary. */
export function mustKeep(items: readonly ResponseItem[], previousSummary = ""): MustKeep {
  const rules = collectUserMessages(items).flatMap(sentencesOf).filter(isRule);
  const previousRules = sectionOf(previousSummary, headings.rules).map((line) => line.replace(/^- /, ""));
  const planned = items.findLast((item) => item.type === "function_call" && item.name === "update_plan");
  const earlier = sectionOf(previousSummary, headings.plan).join("\n");
  return {
    rules: [...new Set([...previousRules, ...rules])].slice(-maxRules),
    plan: (planned?.type === "function_call" ? planText(planned.arguments) : earlier) || undefined,
  };
}

/** Returns the facts missing from a summary: those with at least half of their significant words absent. */
export function missingFrom(summary: string, { rules, plan }: MustKeep): MustKeep {
  const known = new Set(significantWords(summary));
  const isMissing = (text: string) => {
    const words = significantWords(text);
    const absent = words.filter((word) => !known.has(word)).length;
    return words.length === 0 ? !summary.includes(text) : absent * 2 >= words.length;
  };
  return { rules: rules.filter(isMissing), plan: plan !== undefined && isMissing(plan) ? plan : undefined };
}

/** Adds the missing facts to the summary. */
export function repairedSummary(summary: string, { rules, plan }: MustKeep): string {
  const constrained = withSection(summary, headings.rules, rules.map((text) => `- ${text}`).join("\n"));
  return withSection(constrained, headings.plan, plan ?? "");
}

function withSection(summary: string, heading: string, text: string): string {
  if (text === "") return summary;
  const lines = summary.split("\n");
  const place = lines.indexOf(heading);
  if (place < 0) return `${summary.trimEnd()}\n\n${heading}\n${text}`;
  return lines.toSpliced(place + 1, 0, text).join("\n");
}

function sectionOf(summary: string, heading: string): string[] {
  const lines = summary.split("\n");
  const start = lines.indexOf(heading);
  if (start < 0) return [];
  const end = lines.findIndex((line, place) => place > start && line.startsWith("#"));
  return lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => line.trim() !== "");
}

function isRule(sentence: string): boolean {
  return sentence.length <= maxRuleChars && rule.test(sentence) && !sentence.endsWith("?");
}

/** Formats one line per step; arguments of any other shape are kept as written. */
function planText(args: string): string {
  return (stepLines(args) ?? args).slice(0, maxPlanChars);
}

function stepLines(args: string): string | undefined {
  try {
    const { plan } = JSON.parse(args) as { plan: { step: unknown; status: unknown }[] };
    return plan.map(({ step, status }) => `- [${String(status)}] ${String(step)}`).join("\n");
  } catch {
    return undefined;
  }
}

/** Returns the words that carry meaning: words under four characters occur in every text. */
function significantWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_./-]{2,}[\p{L}\p{N}_]/gu))];
}
