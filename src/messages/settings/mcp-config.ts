import * as z from "zod";

/** Restricted because the name becomes part of tool names. */
export const McpServerName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,40}$/, "a server's name must have 1 to 40 letters, digits, _ and -");

const VariableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of an environment variable");
const HeaderName = z.string().regex(/^[A-Za-z0-9-]{1,100}$/, "expected the name of an HTTP header");
const HeaderValue = z.string().regex(/^[ -~]{0,8000}$/, "a header must have only visible ASCII characters and spaces");
const Text = z.string().regex(/^[^\0]{1,100000}$/, "expected text without NUL, of at most 100000 characters");
const seconds = z.number().positive().max(86_400);

const common = {
  enabled: z.boolean().optional(),
  startup_timeout_sec: seconds.optional(),
  tool_timeout_sec: seconds.optional(),
  /** Only these tools, by the server's names for them; all by default. */
  enabled_tools: z.array(z.string()).max(10_000).optional(),
  /** Tools to leave out. */
  disabled_tools: z.array(z.string()).max(10_000).optional(),
};

const CommandEntry = z.strictObject({
  command: Text,
  args: z.array(Text).max(1_000).optional(),
  env: z.record(VariableName, Text).optional(),
  /** Names of variables passed on from our environment, besides the harmless ones. */
  env_vars: z.array(VariableName).max(100).optional(),
  /** Relative to the project, which is the default. */
  cwd: Text.optional(),
  ...common,
});
export type McpCommandEntry = z.infer<typeof CommandEntry>;

const UrlEntry = z.strictObject({
  url: z
    .string()
    .regex(/^https?:\/\/[!-.0-?A-~]{1,1000}(?:\/[!-~]{0,3000})?$/, "expected an http or https URL, without a password"),
  /** The environment variable that holds the token, so that no file has to. */
  bearer_token_env_var: VariableName.optional(),
  http_headers: z.record(HeaderName, HeaderValue).optional(),
  /** Headers whose values are taken from these environment variables. */
  env_http_headers: z.record(HeaderName, VariableName).optional(),
  ...common,
});

/** One server, in the format of Codex's configuration: a command to start, or an address. */
export const McpServerEntry = z.union([CommandEntry, UrlEntry], { error: (issue) => problemOf(issue) });
export type McpServerEntry = z.infer<typeof McpServerEntry>;

export const McpServerEntries = z.record(McpServerName, McpServerEntry);
export type McpServerEntries = z.infer<typeof McpServerEntries>;

/** Reports the problem for the kind of server that was meant, a command or an address. */
function problemOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union") return undefined;
  const [ofCommand = [], ofUrl = []] = issue.errors as z.core.$ZodIssue[][];
  const input = Object(issue.input) as object;
  const isUrl = "url" in input && !("command" in input);
  if (!isUrl && !("command" in input)) return "expected a server with a command or a url";
  const [first] = isUrl ? ofUrl : ofCommand;
  if (first?.code === "unrecognized_keys")
    return `unknown key ${first.keys[0]} for a server with a ${isUrl ? "url" : "command"}`;
  if (first === undefined) return undefined;
  return `${first.path.map(String).join(".")}: ${first.message}`;
}
