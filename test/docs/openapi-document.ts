import * as z from "zod";
import { Event } from "../../src/messages/event.js";
import { FailureCode } from "../../src/messages/failure.js";
import { ApprovalPolicy, SandboxMode } from "../../src/messages/tools/policy.js";
import { ResponseItem } from "../../src/messages/response-item.js";
import { Op } from "../../src/messages/submission.js";
import { exportFormats } from "../../src/rollouts/formats/export/export-format.js";
import { version } from "../../src/version.js";

type Json = Readonly<Record<string, unknown>>;

/** The settings that a new conversation, or a copy, can override. */
const settings = {
  name: z.string().min(1).max(100).optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  cwd: z.string().describe("An absolute path in one of the root folders the server was started with.").optional(),
  approvalPolicy: ApprovalPolicy.optional(),
  sandbox: SandboxMode.optional(),
};

const schemas = {
  Op,
  Event,
  ResponseItem,
  Submitted: z.object({ id: z.string().describe("The id of the submission; its events have the same id.") }),
  NewConversation: z.strictObject(settings),
  ForkedConversation: z.strictObject({ ...settings, afterTurn: z.number().int().positive().optional() }),
  ResumedConversation: z.strictObject({
    force: z.boolean().describe("Open it even if the process that holds its lock may still be running.").optional(),
  }),
  Changed: z.strictObject({ name: z.string().min(1).max(100).optional(), pinned: z.boolean().optional() }),
  Conversation: z.object({
    id: z.string(),
    name: z.string().optional(),
    pinned: z.literal(true).optional(),
    live: z.boolean().describe("Whether the conversation is open in this server."),
    updatedAt: z.number().describe("Milliseconds since 1970."),
    createdAt: z.number().optional(),
    provider: z.string().optional(),
    model: z.string().optional(),
    cwd: z.string().optional(),
    gitBranch: z.string().optional(),
    gitCommit: z.string().optional(),
    title: z.string().optional(),
    size: z.number().int().nonnegative().optional(),
    empty: z.boolean().optional(),
    damaged: z.boolean().optional(),
  }),
  Error: z.object({
    code: z.union([
      FailureCode,
      z.enum(["CONVERSATION_NOT_FOUND", "CONVERSATION_IN_USE", "CORRUPTED_ROLLOUT", "EMPTY_ROLLOUT", "INVALID_INPUT"]),
    ]),
    message: z.string().describe("A short text without secrets and without content of files."),
  }),
};

const description = `The API that \`cody serve\` will implement: the queue API over HTTP. Submissions are sent as JSON and events are received
as server-sent events, both with the schemas of the library. Every request needs the token that the server prints when it
starts. A request with an \`Origin\` that is not allowed, or with a \`Host\` that is not the server's, is refused.`;

/** The REST API as an OpenAPI document, built from the message schemas. */
export function openapiDocument(): Json {
  return {
    openapi: "3.1.0",
    info: { title: "cody", version, description, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: "http://127.0.0.1:{port}/v1", variables: { port: { default: "7117" } } }],
    security: [{ token: [] }],
    paths: {
      "/conversations": {
        get: {
          operationId: "listConversations",
          summary: "Lists saved and live conversations, newest first",
          parameters: [
            query("project", { type: "string" }, "Only conversations that were started in this folder."),
            query("limit", { type: "integer", minimum: 1, maximum: 1000 }, "The maximum number of conversations."),
            query("cursor", { type: "string" }, "The `nextCursor` of an earlier page; returns the page after it."),
          ],
          responses: answers("200", "A page of conversations.", {
            type: "object",
            required: ["items"],
            properties: {
              items: { type: "array", items: ref("Conversation") },
              nextCursor: { type: "string", description: "Absent on the last page." },
            },
          }),
        },
        post: {
          operationId: "newConversation",
          summary: "Starts a conversation",
          requestBody: body("NewConversation"),
          responses: answers(
            "201",
            "The conversation was started, and its first line is on disk.",
            ref("Conversation"),
          ),
        },
      },
      "/conversations/{id}": {
        parameters: [id],
        get: {
          operationId: "getConversation",
          summary: "Returns one conversation",
          responses: answers("200", "The conversation.", ref("Conversation")),
        },
        patch: {
          operationId: "changeConversation",
          summary: "Renames, pins or unpins a conversation",
          requestBody: body("Changed"),
          responses: answers("200", "The changed conversation.", ref("Conversation")),
        },
        delete: {
          operationId: "deleteConversation",
          summary: "Moves a conversation into the trash",
          responses: answers("204", "The conversation is in the trash."),
        },
      },
      "/conversations/{id}/resume": {
        parameters: [id],
        post: {
          operationId: "resumeConversation",
          summary: "Resumes a saved conversation in its own file",
          requestBody: body("ResumedConversation", false),
          responses: answers("200", "The conversation is live.", ref("Conversation")),
        },
      },
      "/conversations/{id}/fork": {
        parameters: [id],
        post: {
          operationId: "forkConversation",
          summary: "Continues in a copy of the conversation, as it is now or as it was after a turn",
          requestBody: body("ForkedConversation", false),
          responses: answers("201", "The new conversation.", ref("Conversation")),
        },
      },
      "/conversations/{id}/submissions": {
        parameters: [id],
        post: {
          operationId: "submit",
          summary: "Adds an op to the queue: input, an approval decision, an interrupt, a compaction",
          requestBody: body("Op"),
          responses: answers("202", "The op is in the queue; its results are sent as events.", ref("Submitted")),
        },
      },
      "/conversations/{id}/events": {
        parameters: [id],
        get: {
          operationId: "conversationEvents",
          summary: "Streams the events of one conversation",
          parameters: [
            query(
              "since",
              { type: "integer", minimum: 0 },
              "The number of the first event; without it, the stream starts with the next one.",
            ),
            {
              name: "Last-Event-ID",
              in: "header",
              schema: { type: "string" },
              description: "Sent by browsers when they reconnect: the stream starts after this number.",
            },
          ],
          responses: stream(
            "The `id` of each event is its `seq`, without gaps and duplicates; its `data` is an Event.",
          ),
        },
      },
      "/conversations/{id}/history": {
        parameters: [id],
        get: {
          operationId: "getHistory",
          summary: "Returns the history the model currently sees",
          responses: answers("200", "The items, oldest first.", { type: "array", items: ref("ResponseItem") }),
        },
      },
      "/conversations/{id}/export": {
        parameters: [id],
        get: {
          operationId: "exportConversation",
          summary: "Exports a saved conversation",
          parameters: [
            query("format", { type: "string", enum: [...exportFormats] }, "The format; markdown by default."),
          ],
          responses: {
            ...failures,
            "200": {
              description: "The exported document, streamed.",
              content: { "*/*": { schema: { type: "string", contentMediaType: "text/plain" } } },
            },
          },
        },
      },
      "/events": {
        get: {
          operationId: "allEvents",
          summary: "Streams the events of all live conversations",
          responses: stream("The `data` of each event is an Event with the id of its conversation."),
        },
      },
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      responses: failed,
      schemas: jsonSchemas(),
    },
  };
}

const id: Json = {
  name: "id",
  in: "path",
  required: true,
  schema: { type: "string" },
  description: "An id, a unique prefix of an id, or a name.",
};

function query(name: string, schema: Json, about: string): Json {
  return { name, in: "query", schema, description: about };
}

function ref(name: keyof typeof schemas): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function body(name: keyof typeof schemas, required = true): Json {
  return { required, content: { "application/json": { schema: ref(name) } } };
}

function failure(about: string): Json {
  return { description: about, content: { "application/json": { schema: ref("Error") } } };
}

const failed = {
  BadRequest: failure("The request does not match its schema; the message names the field."),
  Unauthorized: failure("The token is missing or wrong."),
  NotFound: failure("The conversation does not exist."),
  Conflict: failure("The conversation is open in another process, or a turn is running."),
  Damaged: failure("The conversation's file is damaged; the message names the line."),
  Unavailable: failure("The server is shutting down, or has reached its limit of open conversations."),
};

const failures = {
  "400": failedRef("BadRequest"),
  "401": failedRef("Unauthorized"),
  "404": failedRef("NotFound"),
  "409": failedRef("Conflict"),
  "422": failedRef("Damaged"),
  "503": failedRef("Unavailable"),
};

function failedRef(name: keyof typeof failed): Json {
  return { $ref: `#/components/responses/${name}` };
}

function answers(status: string, about: string, schema?: Json): Json {
  const content = schema === undefined ? {} : { content: { "application/json": { schema } } };
  return { ...failures, [status]: { description: about, ...content } };
}

function stream(about: string): Json {
  return { ...failures, "200": { description: about, content: { "text/event-stream": { schema: ref("Event") } } } };
}

function jsonSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries(schemas)) registry.add(schema, { id: name });
  const made = z.toJSONSchema(registry, {
    unrepresentable: "any",
    io: "input",
    uri: (name) => `#/components/schemas/${name}`,
  });
  return Object.fromEntries(Object.entries(made.schemas).map(([name, schema]) => [name, withoutNames(schema)]));
}

/** Drops `$schema` and `$id`, which only the document itself needs. */
function withoutNames(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id"));
}
