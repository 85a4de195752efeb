import { secretOfArgument } from "../../../../config/secrets/mcp-secrets.js";
import { createRedactor } from "../../../../config/secrets/redact.js";
import type { McpServerEntry } from "../../../../messages/mcp-config.js";
import { quotedCommand } from "../../../../base/text/quoted-command.js";
import { mask } from "../../../../base/text/redaction.js";
import { visible } from "../../../../base/text/visible.js";

const redactShapes = createRedactor([]);

/** A server on one line. */
export function serverText(entry: McpServerEntry): string {
  const shown = shownEntry(entry);
  return "url" in shown ? visible(shown.url) : quotedCommand([shown.command, ...(shown.args ?? [])]);
}

/** Shows only the names of values that may be secret. */
export function shownEntry(entry: McpServerEntry) {
  if ("url" in entry) {
    const { url, http_headers: headers, ...rest } = entry;
    return { url: shownUrl(url), ...rest, ...(headers === undefined ? {} : { http_headers: Object.keys(headers) }) };
  }
  const { env, args, ...rest } = entry;
  return {
    ...rest,
    ...(args === undefined ? {} : { args: args.map(shownArgument) }),
    ...(env === undefined ? {} : { env: Object.keys(env) }),
  };
}

function shownUrl(url: string): string {
  return redactShapes(url.replaceAll(/([?&][^=&#]*=)[^&#]+/g, `$1${mask}`));
}

function shownArgument(argument: string, index: number, all: readonly string[]): string {
  const secret = secretOfArgument(all, index);
  return secret === undefined ? redactShapes(argument) : `${argument.slice(0, -secret.length)}${mask}`;
}
