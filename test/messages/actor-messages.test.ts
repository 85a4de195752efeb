import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import * as credentials from "../../src/messages/actors/credentials.js";
import { KnowledgeAnswers, KnowledgeOp } from "../../src/messages/actors/knowledge.js";
import * as limits from "../../src/messages/actors/limits.js";
import * as mcp from "../../src/messages/actors/mcp.js";
import { arbitraryOf } from "../support/arbitrary-of.js";

interface ActorMessages {
  readonly ops: z.ZodDiscriminatedUnion;
  readonly answers: z.ZodObject<Readonly<Record<string, z.ZodType>>>;
  /** Undefined for an actor that only answers. */
  readonly events: z.ZodDiscriminatedUnion | undefined;
}

/** The messages of each actor that other threads can reach. The samples of every variant come from its schema. */
const actors: Readonly<Record<string, ActorMessages>> = {
  credentials: {
    ops: credentials.CredentialsOp,
    answers: credentials.CredentialsAnswers,
    events: credentials.CredentialsEvent,
  },
  knowledge: { ops: KnowledgeOp, answers: KnowledgeAnswers, events: undefined },
  limits: { ops: limits.LimitsOp, answers: limits.LimitsAnswers, events: limits.LimitsEvent },
  mcp: { ops: mcp.McpOp, answers: mcp.McpAnswers, events: mcp.McpEvent },
  "mcp server": { ops: mcp.McpServerOp, answers: mcp.McpServerAnswers, events: mcp.McpServerEvent },
};

const messages = Object.entries(actors).flatMap(([actor, { ops, answers, events }]) => [
  ...[...ops.options, ...(events?.options ?? [])].map((schema) => [`${actor}: ${typeOf(schema)}`, schema] as const),
  ...Object.entries(answers.shape).map(([op, schema]) => [`${actor}: the answer to ${op}`, schema] as const),
]);

function typeOf(schema: z.core.$ZodType): string {
  const type = schema instanceof z.ZodObject ? schema.shape["type"] : undefined;
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
  expect(ops.options.map(typeOf)).toEqual(expect.arrayContaining(Object.keys(answers.shape)));
});
