import { isContextMessage } from "../../base/codex/context-message.js";
import { isRecord } from "../../base/is-record.js";
import { shortened } from "../../base/text/truncate.js";
import type { ModelRequest } from "../../messages/model.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import {
  type MessageItem,
  messageText,
  type ResponseItem,
  type ToolOutputContent,
} from "../../messages/response-item.js";
import { recordAt } from "../json-fields.js";

const expressionPattern =
  /(?:^|\b(?:what(?:['’]?s| is)|how much is|calculate|compute|solve)\s+)([-(\d.][-\d\s.+*/%()×÷]*)=?\s*[?!]*$/i;

const levels = ["+-", "*/%"];

const maxReadChars = 20_000;

const maxSentenceChars = 500;

const questionPattern =
  /\?\s*$|^(?:do|did|tell|remind|which)\b|\b(?:what|where|who)(?:['’]?s| is| was| do| did| am| are)\b/i;

const nextClause = /(?:\s+(?:and|but)|,)\s+(?=(?:my|i)\s)/i;

const isQuestion = (sentence: string): boolean => questionPattern.test(sentence);

const toSecondPerson = ({ said }: Fact): string => said.replaceAll(/\bmy\b/gi, "your").replace(/^i\b/i, "you");

const maxQuoteChars = 160;

const maxLines = 5;

const decision = /\b(?:decided?|let['’]?s use|we(?:['’]ll| will) use|going with|chose|instead of)\b/i;

const fileName = /^[\w@~./-]*[\w-]\.[A-Za-z]{1,8}$/;

/** A schema may be recursive. */
const maxDepth = 20;

type Call = { readonly type: "call"; readonly name: string; readonly arguments: Record<string, unknown> };
type OfflineReply = Call | { readonly type: "text"; readonly text: string };

const earlierSummary = /^\s*(?:Summary of earlier conversation|\[Session Summary\]|Another language model started)/;
const previousSummary = /<previous_summary>\n([^]*?)\n<\/previous_summary>/;
const maxEchoChars = 300;
const self = "I am cody's offline model, a small program, not a language model.";
const addKey =
  "To use a real model, add an API key: cody set-auth openai-api-key - (or anthropic-api-key, openrouter-api-key)";
const help = `${self} I can:
- remember what you tell me ("my name is Alice") and tell it back ("what is my name?")
- calculate ("what is 12 * (3 + 4)?")
- say what you said before ("what did I just say?")
- remember for later conversations ("remember for this project that tests run with vitest")
- use tools ("list files in src", "read README.md", "search for TODO in src", "run npm test", "write notes.txt: some text",
  or a patch from *** Begin Patch to *** End Patch)
${addKey}
The variables OPENAI_API_KEY, ANTHROPIC_API_KEY and OPENROUTER_API_KEY work too.`;

/** The offline model's answer; depends only on the request. */
export function offlineReply(request: ModelRequest): OfflineReply {
  const reply = plainReply(request);
  if (reply.type === "call" || request.outputSchema === undefined) return reply;
  return textReply(JSON.stringify(fittingValue(request.outputSchema, reply.text)));
}

function plainReply({ input, tools }: ModelRequest): OfflineReply {
  const items = input.filter((item) => !isContextMessage(item));
  const last = items.at(-1);
  if (last?.type === "function_call_output" || last?.type === "custom_tool_call_output")
    return textReply(report(last.output));
  const userTexts = texts(items, "user");
  const messages = userTexts.filter((text) => !earlierSummary.test(text));
  const message = messages.at(-1)?.trim() ?? "";
  if (/\bconcise summary\b|^(?:please )?summari[sz]e\b/i.test(message)) {
    const earlier = previousSummary.exec(message)?.slice(1) ?? [];
    return textReply(extractSummary([...earlier, ...userTexts.slice(0, -1)], texts(items, "assistant")));
  }
  const call = requestedCall(message.replace(/^please\s+/i, ""));
  if (call === undefined) return textReply(converse(message, userTexts, messages.slice(0, -1)));
  return tools.some((tool) => tool.name === call.name)
    ? call
    : textReply(`${self} I have no tool named ${call.name} here.`);
}

/** The tool call that a plain-text request asks for. */
function requestedCall(request: string): Call | undefined {
  const folder = /^list (?:the |all )?files(?: in (\S+?))?[.?!]*$/i.exec(request);
  if (folder !== null) return call("shell", { command: ["ls", "-1", unquoted(folder[1] ?? ".")] });
  const command = /^run (\S[^]*)$/i.exec(request)?.[1];
  if (command !== undefined) return call("shell", { command: ["sh", "-c", unquoted(command)] });
  const path = /^read (?:the )?(?:file )?("[^"]+"|\S+?)[.?!]*$/i.exec(request)?.[1];
  if (path !== undefined) return call("read_file", { path: unquoted(path) });
  const fact = /^remember (?:for|in|about) (?:this|the) project(?: that|:)?\s+(\S[^]*)$/i.exec(request)?.[1];
  if (fact !== undefined) return call("add_knowledge", { type: "pattern", content: fact.trim() });
  const [, pattern, place] = /^search (?:for )?("[^"]+"|\S+)(?: in (\S+?))?[.?!]*$/i.exec(request) ?? [];
  if (pattern !== undefined) {
    return call("search_files", { pattern: unquoted(pattern), literal: true, path: unquoted(place ?? ".") });
  }
  const patch = /^\*\*\* Begin Patch\n[^]*^\*\*\* End Patch$/m.exec(request)?.[0];
  if (patch !== undefined) return call("apply_patch", { input: patch });
  const [, target, content] = /^write (?:to )?(?:file )?("[^"]+"|\S+?):\s*([^]*)$/i.exec(request) ?? [];
  return target === undefined ? undefined : call("write_file", { path: unquoted(target), content: content ?? "" });
}

function converse(message: string, userTexts: readonly string[], before: readonly string[]): string {
  if (message === "" || /^(?:\/?help|what can you do|(?:who|what) are you)\b/i.test(message)) return help;
  const sentences = sentencesOf(message).toReversed();
  const first = (answer: (sentence: string) => string | undefined) => sentences.map(answer).find((text) => text);
  const facts = factsIn(message).map(toSecondPerson);
  return (
    first((sentence) => recallConversation(sentence, before)) ??
    first((sentence) => recallFact(sentence, userTexts)) ??
    first((sentence) => calculate(expressionIn(sentence) ?? "")) ??
    (facts.length > 0
      ? `Noted: ${facts.join(", ")}.`
      : `${self} I heard: ${echo(message)}\nSay "help" for what I can do. ${addKey}`)
  );
}

/** Answers a question about the conversation itself. */
function recallConversation(question: string, before: readonly string[]): string | undefined {
  if (/\b(?:maths?|arithmetic)\b.*\b(?:ask|question)/i.test(question)) {
    const earlierExpression = before.findLast((text) =>
      sentencesOf(text).some((part) => expressionIn(part) !== undefined),
    );
    return earlierExpression === undefined
      ? "You have not asked me to calculate anything."
      : `You asked: ${echo(earlierExpression)}`;
  }
  const several = /\bmy (?:last|previous) (?:message|question)s\b/i.test(question);
  const one = /\bwhat did i (?:just |last )?(?:say|ask|write)\b|\bmy (?:last|previous) (?:message|question)\b/i;
  if (!several && !one.test(question)) return undefined;
  const newest = before.slice(several ? -3 : -1).map(echo);
  return newest.length === 0 ? "Nothing yet." : `You said: ${newest.join(" | ")}`;
}

function recallFact(question: string, userTexts: readonly string[]): string | undefined {
  const subject = questionSubject(question);
  if (subject === undefined) return undefined;
  const fact = recall(userTexts.flatMap(factsIn), subject);
  return fact === undefined ? "You have not told me that yet." : `You told me: ${toSecondPerson(fact)}.`;
}

function report(output: ToolOutputContent): string {
  const text = typeof output === "string" ? output : messageText({ type: "message", role: "user", content: output });
  return text.trim() === "" ? "The tool returned no output." : `The tool answered:\n${text}`;
}

function texts(items: readonly ResponseItem[], role: MessageItem["role"]): string[] {
  return items.flatMap((item) => (item.type === "message" && item.role === role ? [messageText(item)] : []));
}

const textReply = (text: string): OfflineReply => ({ type: "text", text });
const call = (name: string, args: Record<string, unknown>): Call => ({ type: "call", name, arguments: args });
const echo = (text: string): string => shortened(text, maxEchoChars);
const unquoted = (text: string): string => text.replace(/^(["'`])([^]*)\1$/, "$2");

/** Builds a value that matches a schema, with `text` for every string. */
function fittingValue(schema: OutputSchema, text: string): unknown {
  return valueOf(schema, text, recordAt(schema, "$defs"), 0);
}

function valueOf(schema: unknown, text: string, defs: Readonly<Record<string, unknown>>, depth: number): unknown {
  if (!isRecord(schema) || depth > maxDepth) return null;
  const { $ref: ref, enum: values, anyOf, type } = schema;
  if (typeof ref === "string") return valueOf(defs[ref.slice("#/$defs/".length)], text, defs, depth + 1);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return valueOf(anyOf[0], text, defs, depth + 1);
  switch (Array.isArray(type) ? type[0] : type) {
    case "object": {
      const properties = Object.entries(recordAt(schema, "properties"));
      return Object.fromEntries(properties.map(([name, inner]) => [name, valueOf(inner, text, defs, depth + 1)]));
    }
    case "array":
      return Number(schema["minItems"] ?? 0) > 0 ? [valueOf(schema["items"], text, defs, depth + 1)] : [];
    case "string":
      return text;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return 0;
  }
}

/** Builds a summary only by extraction. `told` holds the user's messages and earlier summaries. */
function extractSummary(userTexts: readonly string[], answers: readonly string[]): string {
  const earlierGoal = userTexts.flatMap((text) => /^## Goal\n(.+)$/m.exec(text)?.[1] ?? []).at(0);
  const requests = userTexts.filter((text) => !text.includes("## Goal\n"));
  const sentences = [...userTexts, ...answers].flatMap(sentencesOf);
  const facts = new Map(userTexts.flatMap(factsIn).map((fact) => [fact.subject, fact.said]));
  const files = [...new Set(sentences.flatMap(filesIn))].slice(-4 * maxLines);
  return [
    `## Goal\n${quote(earlierGoal ?? requests[0] ?? "Nothing was asked yet.")}`,
    `## Progress\n${list(requests.map((text) => `The user said: ${quote(text)}`))}`,
    `## Key Decisions\n${list(sentences.filter((sentence) => decision.test(sentence) && !isQuestion(sentence)))}`,
    `## Next Steps\n${list(requests.slice(-1).map((text) => `Go on from: ${quote(text)}`))}`,
    `## Critical Context\n${list([...facts.values()])}\n- Files named: ${files.join(" ") || "none"}`,
  ].join("\n\n");
}

function list(lines: readonly string[]): string {
  const newest = [...new Set(lines.map((line) => quote(line.replace(/^- /, ""))))].slice(-maxLines);
  return newest.length === 0 ? "- none" : newest.map((line) => `- ${line}`).join("\n");
}

function quote(text: string): string {
  const start = text.slice(0, maxQuoteChars).replaceAll(/\s+/g, " ").trim();
  return text.length > maxQuoteChars ? `${start}…` : start;
}

function filesIn(sentence: string): string[] {
  const words = sentence.split(/[\s"'`(),;:]+/).map((word) => word.replace(/[.?!]+$/, ""));
  return words.filter((word) => fileName.test(word));
}

/** A fact that the user stated about themselves, in their words. */
interface Fact {
  readonly subject: string;
  readonly said: string;
}

function sentencesOf(text: string): string[] {
  const sentences = text.slice(0, maxReadChars).split(/(?<=[.!?;])\s+|\n+/);
  return sentences.map((sentence) => sentence.slice(0, maxSentenceChars).trim()).filter((sentence) => sentence !== "");
}

function factsIn(text: string): Fact[] {
  const statements = sentencesOf(text).filter((sentence) => !isQuestion(sentence));
  return statements.flatMap((sentence) => sentence.split(nextClause).flatMap(factIn));
}

/** The subject of a question about the user: `name` in "What did I tell you my name was?". */
function questionSubject(sentence: string): string | undefined {
  if (!isQuestion(sentence)) return undefined;
  if (/\bwho am i\b/i.test(sentence)) return "name";
  const verb = /\bdo i (live|work|study)\b/i.exec(sentence)?.[1];
  const subject = /\bmy ([a-z][a-z' -]*?)(?:\s+(?:is|was|are|were))?\s*[?.!]*$/i.exec(sentence)?.[1];
  return verb?.toLowerCase() ?? (subject === undefined ? undefined : normal(subject));
}

/** The newest fact about a subject; "name again" still finds the name. */
function recall(facts: readonly Fact[], subject: string): Fact | undefined {
  return facts.findLast((fact) => `${subject} `.startsWith(`${fact.subject} `));
}

function factIn(clause: string): Fact[] {
  const match = /\b(?:my ([a-z][a-z' -]{0,60}?) (?:is|are|was|were)|i (live|work|study) \w+) \S.*$/i.exec(clause);
  const subject = match?.[1] ?? match?.[2];
  return subject === undefined ? [] : [{ subject: normal(subject), said: match?.[0].replace(/[\s.!;,]+$/, "") ?? "" }];
}

function normal(subject: string): string {
  return subject.trim().toLowerCase().replaceAll("favorite", "favourite").replaceAll("color", "colour");
}

/**
 * The arithmetic expression that a sentence asks for. It must contain an operator, because a number alone is not a
 * question.
 */
export function expressionIn(sentence: string): string | undefined {
  const expression = expressionPattern.exec(sentence)?.[1]?.replace(/[\s.]+$/, "");
  return expression !== undefined && /[\d)]\s*[-+*/%×÷]/.test(expression) ? expression : undefined;
}

/** Returns the answer as a sentence; undefined if the expression is malformed. */
export function calculate(expression: string): string | undefined {
  const tokens =
    expression
      .replaceAll("×", "*")
      .replaceAll("÷", "/")
      .match(/\d+(?:\.\d+)?|\S/g) ?? [];
  let zeroDivisor = false;

  const take = (options: string) => (options.includes(tokens[0] ?? "end") ? tokens.shift() : undefined);
  const chain = (level: number): number => {
    const operators = levels[level];
    if (operators === undefined) return operand();
    let value = chain(level + 1);
    for (let operator = take(operators); operator !== undefined; operator = take(operators)) {
      value = apply(operator, value, chain(level + 1));
    }
    return value;
  };
  const operand = (): number => {
    if (take("-") !== undefined) return -operand();
    if (take("(") === undefined) return Number(tokens.shift() ?? Number.NaN);
    const value = chain(0);
    return take(")") === undefined ? Number.NaN : value;
  };
  const apply = (operator: string, left: number, right: number): number => {
    zeroDivisor ||= right === 0 && "/%".includes(operator);
    if (operator === "*") return left * right;
    if (operator === "/") return left / right;
    if (operator === "%") return left % right;
    return operator === "+" ? left + right : left - right;
  };

  const value = chain(0);
  if (tokens.length > 0) return undefined;
  if (zeroDivisor) return `${expression} has no answer: nothing can be divided by zero.`;
  // Twelve digits hide binary rounding errors, as in 0.1 + 0.2.
  return Number.isFinite(value) ? `${expression} = ${Number(value.toPrecision(12))}` : undefined;
}
