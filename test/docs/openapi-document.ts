import * as z from "zod";
import { Event } from "../../src/messages/event.js";
import { FailureCode } from "../../src/messages/failure.js";
import { ApprovalPolicy, SandboxMode } from "../../src/messages/tools/policy.js";
import { ResponseItem } from "../../src/messages/response-item.js";
import { Op } from "../../src/messages/submission.js";
import { exportFormats } from "../../src/rollouts/formats/export/export-format.js";
import { version } from "../../src/version.js";

type Json = Readonly<Record<string, unknown>>;

/** What a new conversation, or a copy, may say differently from the configuration. */
const settings = {
  name: z.string().min(1).max(100).optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  cwd: z.string().describe("An absolute path below one of the roots the server was started with.").optional(),
  approvalPolicy: ApprovalPolicy.optional(),
  sandbox: SandboxMode.optional(),
};

const schemas = {
  Op,
  Event,
  ResponseItem,
  Submitted: z.object({ id: z.string().describe("The id that every event of this submission carries.") }),
  NewConversation: z.strictObject(settings),
  ForkedConversation: z.strictObject({ ...settings, afterTurn: z.number().int().positive().optional() }),
  ResumedConversation: z.strictObject({
    force: z.boolean().describe("Take it although its owner cannot be proved dead.").optional(),
  }),
  Changed: z.strictObject({ name: z.string().min(1).max(100).optional(), pinned: z.boolean().optional() }),
  Conversation: z.object({
    id: z.string(),
    name: z.string().optional(),
    pinned: z.literal(true).optional(),
    live: z.boolean().describe("Whether this server has it open."),
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
    message: z.string().describe("Short, and without secrets or quotes of a file."),
  }),
};

const description = `What \`cody serve\` will speak: the queue API over HTTP. Submissions go in as JSON, events come out as a stream of
server-sent events, both in the shapes of the library. Every request carries the token the server printed when it was
started; a request with an \`Origin\` that was not allowed, or with a \`Host\` that is not the server's, is refused.`;

/** The REST API as an OpenAPI document, made from the schemas of the messages. */
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
          summary: "The saved conversations and the live ones, newest first",
          parameters: [
            query("project", { type: "string" }, "Only those that were begun in this folder."),
            query("limit", { type: "integer", minimum: 1, maximum: 1000 }, "At most so many."),
            query("cursor", { type: "string" }, "What comes behind an earlier page."),
          ],
          responses: answers("200", "A page of them.", {
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
          summary: "Begins a conversation",
          requestBody: body("NewConversation"),
          responses: answers("201", "It has begun, and its first line is on disk.", ref("Conversation")),
        },
      },
      "/conversations/{id}": {
        parameters: [id],
        get: {
          operationId: "getConversation",
          summary: "What is known of a conversation",
          responses: answers("200", "The conversation.", ref("Conversation")),
        },
        patch: {
          operationId: "changeConversation",
          summary: "Names a conversation, or says whether it is kept",
          requestBody: body("Changed"),
          responses: answers("200", "As it is now.", ref("Conversation")),
        },
        delete: {
          operationId: "deleteConversation",
          summary: "Moves a conversation into the trash",
          responses: answers("204", "It is in the trash."),
        },
      },
      "/conversations/{id}/resume": {
        parameters: [id],
        post: {
          operationId: "resumeConversation",
          summary: "Goes on with a saved conversation in its own file",
          requestBody: body("ResumedConversation", false),
          responses: answers("200", "It is live.", ref("Conversation")),
        },
      },
      "/conversations/{id}/fork": {
        parameters: [id],
        post: {
          operationId: "forkConversation",
          summary: "Goes on in a copy, as the conversation is or as it was after a turn",
          requestBody: body("ForkedConversation", false),
          responses: answers("201", "The copy.", ref("Conversation")),
        },
      },
      "/conversations/{id}/submissions": {
        parameters: [id],
        post: {
          operationId: "submit",
          summary: "Puts an op into the queue: input, an approval, an interrupt, a compaction",
          requestBody: body("Op"),
          responses: answers("202", "It is in the queue; what becomes of it comes as events.", ref("Submitted")),
        },
      },
      "/conversations/{id}/events": {
        parameters: [id],
        get: {
          operationId: "conversationEvents",
          summary: "The events of one conversation",
          parameters: [
            query("since", { type: "integer", minimum: 0 }, "Begin with this number instead of with the next event."),
            {
              name: "Last-Event-ID",
              in: "header",
              schema: { type: "string" },
              description: "As browsers send it when they connect again: begin behind this number.",
            },
          ],
          responses: stream("Each event's `id` is its `seq`, which has no gap and no double; its `data` is an Event."),
        },
      },
      "/conversations/{id}/history": {
        parameters: [id],
        get: {
          operationId: "getHistory",
          summary: "The items the model sees now",
          responses: answers("200", "The items, the oldest first.", { type: "array", items: ref("ResponseItem") }),
        },
      },
      "/conversations/{id}/export": {
        parameters: [id],
        get: {
          operationId: "exportConversation",
          summary: "A saved conversation as a document",
          parameters: [query("format", { type: "string", enum: [...exportFormats] }, "Without it: markdown.")],
          responses: {
            ...failures,
            "200": {
              description: "The document, in pieces.",
              content: { "*/*": { schema: { type: "string", contentMediaType: "text/plain" } } },
            },
          },
        },
      },
      "/events": {
        get: {
          operationId: "allEvents",
          summary: "The events of all live conversations in one stream",
          responses: stream("Each event's `data` is an Event, which names its conversation."),
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
  description: "An id, the unique beginning of one, or a name.",
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
  BadRequest: failure("The request does not have the shape it must have; the message says where."),
  Unauthorized: failure("The token is missing or wrong."),
  NotFound: failure("There is no such conversation."),
  Conflict: failure("Another process has it open, or a turn is running that must not be."),
  Damaged: failure("Its file is damaged: the message names the line."),
  Unavailable: failure("The server is shutting down, or has as many conversations open as it may."),
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

/** The document as a whole says what it is. */
function withoutNames(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id"));
}
