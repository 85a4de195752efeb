import { readProjectServers } from "../../../config/project/project-servers.js";
import { setTrust } from "../../../config/project/trust.js";
import type { McpServerEntries } from "../../../messages/mcp-config.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import { visible } from "../../../base/text/visible.js";
import { type CommandContext, printLine } from "../../context.js";
import { watchSignals } from "../interruption.js";
import { Prompt } from "./prompt.js";

/**
 * Asks once whether to trust a project that has its own configuration, and stores the answer. None of that
 * configuration has been applied before.
 */
export async function askTrust(context: CommandContext): Promise<void> {
  const { home } = context;
  const { realRoot } = await context.projectRoots();
  const { servers, settings, trust, root } = await readProjectServers(home, realRoot);
  const named = Object.entries(servers);
  if (trust !== undefined || named.length + settings.length === 0) return;
  const rows = [
    ...named.map(([name, entry]) => `  the MCP server ${name}: ${serverText(entry)}`),
    ...(settings.length === 0 ? [] : [`  settings: ${settings.map(visible).join(", ")}`]),
    "In a trusted project, models may also save knowledge without approval.",
  ];
  await printLine(context, [`The project ${visible(root)} has its own configuration:`, ...rows].join("\n"));
  const answer = await ask(context, "Trust this project and apply these settings? [y/n] › ");
  if (answer === "y" || answer === "yes") await setTrust(home, root, "trusted");
  else if (answer === "n" || answer === "no") await setTrust(home, root, "untrusted");
  else await printLine(context, "Project config ignored. To trust it later: cody trust");
}

/** Shows the complete entry, because the user agrees only to what is shown. */
function serverText(entry: McpServerEntries[string]): string {
  if ("url" in entry) return visible(entry.url);
  const env = Object.keys(entry.env ?? {});
  return [
    quotedCommand([entry.command, ...(entry.args ?? [])]),
    ...(entry.cwd === undefined ? [] : [`in ${visible(entry.cwd)}`]),
    ...(env.length === 0 ? [] : [`with ${env.map(visible).join(", ")}`]),
  ].join(" ");
}

async function ask(context: CommandContext, question: string): Promise<string | undefined> {
  const { stdin, stdout } = context.terminal;
  using interruption = watchSignals(context.terminal);
  const prompt = await Prompt.open(stdin, stdout.stream, {
    line: () => undefined,
    interrupt: () => interruption.interrupt(),
    end: () => undefined,
  });
  try {
    return (await prompt.ask(question, interruption.signal))?.trim().toLowerCase();
  } finally {
    prompt.close();
  }
}
