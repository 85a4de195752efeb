import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import * as compactor from "../../src/messages/actors/compactor.js";
import * as conversation from "../../src/messages/actors/conversation.js";
import * as credentials from "../../src/messages/actors/credentials.js";
import { KnowledgeAnswers, KnowledgeOp } from "../../src/messages/actors/knowledge.js";
import * as limits from "../../src/messages/actors/limits.js";
import * as mcp from "../../src/messages/actors/mcp.js";
import { PoolAnswers, PoolOp } from "../../src/messages/actors/pool.js";
import * as writer from "../../src/messages/actors/rollout-writer.js";
import * as shard from "../../src/messages/actors/shard.js";
import { arbitraryOf } from "../support/arbitrary-of.js";

interface ActorMessages {
  readonly ops: z.ZodType;
  readonly answers: Readonly<Record<string, z.ZodType>>;
  /** Undefined for an actor that only answers. */
  readonly events?: z.ZodType;
  /** Other messages that reach or leave its thread. */
  readonly others?: Readonly<Record<string, z.ZodType>>;
}

/** The messages of every actor. The samples of every variant come from its schema. */
const actors: Readonly<Record<string, ActorMessages>> = {
  conversation: {
    ops: conversation.ConversationOp,
    answers: conversation.ConversationAnswers.shape,
    events: conversation.ConversationMsg,
    others: {
      ...byVariant("change of the mirror", conversation.MirrorChange.options, "type"),
      ...byVariant("request to open", conversation.OpenConversation.options, "mode"),
    },
  },
  shard: {
    ops: shard.ShardOp,
    answers: shard.ShardAnswers.shape,
    events: shard.ShardEvent,
    others: {
      ...byVariant("notice", shard.ShardNotice.options, "type"),
      ...byVariant("first message", shard.ShardStarted.options, "type"),
      ...byVariant("error", shard.ErrorData.options, "name"),
    },
  },
  "rollout-writer": {
    ops: writer.RolloutWriterOp,
    answers: writer.RolloutWriterAnswers.shape,
    events: writer.RolloutWriterEvent,
    others: {
      submission: writer.RolloutWriterSubmission,
      ...byVariant("report", writer.RolloutWriterReport.options, "type"),
    },
  },
  compactor: { ops: compactor.CompactorOp, answers: compactor.compactorAnswers, events: compactor.CompactorEvent },
  credentials: {
    ops: credentials.CredentialsOp,
    answers: credentials.CredentialsAnswers.shape,
    events: credentials.CredentialsEvent,
  },
  knowledge: { ops: KnowledgeOp, answers: KnowledgeAnswers.shape },
  limits: { ops: limits.LimitsOp, answers: limits.LimitsAnswers.shape, events: limits.LimitsEvent },
  mcp: { ops: mcp.McpOp, answers: mcp.McpAnswers.shape, events: mcp.McpEvent },
  "mcp server": { ops: mcp.McpServerOp, answers: mcp.McpServerAnswers.shape, events: mcp.McpServerEvent },
  pool: { ops: PoolOp, answers: PoolAnswers.shape },
};

const messages = Object.entries(actors).flatMap(([actor, { ops, answers, events, others = {} }]) => [
  ...variantsOf(ops).map((schema) => [`${actor}: op ${nameOf(schema, "type")}`, schema] as const),
  ...(events === undefined ? [] : variantsOf(events)).map(
    (schema) => [`${actor}: event ${nameOf(schema, "type")}`, schema] as const,
  ),
  ...Object.entries(answers).map(([op, schema]) => [`${actor}: answer to ${op}`, schema] as const),
  ...Object.entries(others).map(([name, schema]) => [`${actor}: ${name}`, schema] as const),
]);

/** The variants of a union, and of the unions in it. */
function variantsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  return schema instanceof z.ZodUnion ? schema.options.flatMap(variantsOf) : [schema];
}

function byVariant(
  what: string,
  variants: readonly z.ZodType[],
  discriminator: string,
): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(variants.map((schema) => [`${what} ${nameOf(schema, discriminator)}`, schema]));
}

function nameOf(schema: z.core.$ZodType, discriminator: string): string {
  const type = schema instanceof z.ZodObject ? schema.shape[discriminator] : undefined;
  if (type instanceof z.ZodLiteral) return String(type.value);
  throw new Error("a message without a type");
}

test.each(messages)("%s survives a port and JSON unchanged", (_, schema) => {
  fc.assert(
    fc.property(arbitraryOf(schema), (value) => {
      expect(structuredClone(value)).toEqual(value);
      // Only JSON removes a field that is undefined.
      expect(z.parse(schema, JSON.parse(JSON.stringify(value)))).toEqual(value);
    }),
    { numRuns: 50 },
  );
});

test.each(Object.entries(actors))("the answers of %s belong to its ops", (_, { ops, answers }) => {
  const types = variantsOf(ops).map((schema) => nameOf(schema, "type"));
  expect(types).toEqual(expect.arrayContaining(Object.keys(answers)));
});

const folder = new URL("../../src/messages/actors/", import.meta.url);

/** Every exported schema of the actors' messages, by its name. */
async function exportedSchemas(): Promise<Map<string, z.ZodType>> {
  const found = new Map<string, z.ZodType>();
  for (const file of await readdir(folder)) {
    const module = (await import(new URL(file, folder).href)) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(module)) if (value instanceof z.ZodType) found.set(name, value);
  }
  return found;
}

/** The schema and all schemas in it. */
function collectSchemas(value: unknown, into: Set<unknown> = new Set()): Set<unknown> {
  if (typeof value !== "object" || value === null || into.has(value)) return into;
  into.add(value);
  if (value instanceof z.ZodType) collectSchemas(value.def, into);
  else for (const each of Object.values(value)) collectSchemas(each, into);
  return into;
}

/** Whether samples contain the schema: as a whole, each of its variants, or each of its fields. */
function isCovered(schema: z.core.$ZodType, covered: ReadonlySet<unknown>): boolean {
  if (covered.has(schema)) return true;
  const parts = schema instanceof z.ZodUnion ? schema.options : schema instanceof z.ZodObject ? schema.shape : {};
  return Object.values(parts).length > 0 && Object.values(parts).every((part) => isCovered(part, covered));
}

test("every schema in the folder of the actors' messages is part of a message above", async () => {
  const covered = collectSchemas(messages.map(([, schema]) => schema));
  const exported = await exportedSchemas();
  expect(exported.size).toBeGreaterThan(40);
  const missing = [...exported].filter(([, schema]) => !isCovered(schema, covered));
  // It has no answers.
  expect(missing.map(([name]) => name)).toEqual(["LimitsAnswers"]);
});

test("the ops of every actor are named above", async () => {
  const source = new URL("../../src/actors/", import.meta.url);
  const files = await readdir(fileURLToPath(source), { recursive: true });
  const declared = new Set<string>();
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.startsWith("runtime/"))) {
    const text = await readFile(new URL(file, source), "utf8");
    for (const [, op = ""] of text.matchAll(/\b(?:Actor|Ref)<\s*(\w+),/g)) declared.add(op);
  }
  const named = [...(await exportedSchemas())].flatMap(([name, schema]) =>
    Object.values(actors).some(({ ops }) => ops === schema) ? [name] : [],
  );
  expect([...declared].toSorted()).toEqual(named.filter((name) => declared.has(name)).toSorted());
  expect(declared.size).toBeGreaterThan(8);
});
