import { readProjectServers } from "../../config/project-servers.js";
import { setTrust } from "../../config/trust.js";
import { quotedCommand } from "../../messages/quoted-command.js";
import { shortened } from "../../messages/shortened.js";
import { visible } from "../../messages/visible.js";
import { type CommandContext, printLine } from "../context.js";
import { watchSignals } from "../interruption.js";
import { Prompt } from "./prompt.js";

const maxCommandChars = 300;

/** Asks about a project that names servers, once: what was said is kept. Nothing of it has run by then. */
export async function askTrust(context: CommandContext): Promise<void> {
  const { home, terminal } = context;
  const { servers, trust, root } = await readProjectServers(home, terminal.cwd);
  const named = Object.entries(servers);
  if (trust !== undefined || named.length === 0) return;
  const rows = named.map(([name, entry]) => {
    const what = "url" in entry ? visible(entry.url) : quotedCommand([entry.command, ...(entry.args ?? [])]);
    return `  ${name}: ${shortened(what, maxCommandChars)}`;
  });
  await printLine(context, [`The project ${visible(root)} names MCP servers:`, ...rows].join("\n"));
  const answer = await ask(context, "Do you trust it, so that they are started? [y/n] › ");
  if (answer === "y" || answer === "yes") await setTrust(home, root, "trusted");
  else if (answer === "n" || answer === "no") await setTrust(home, root, "untrusted");
  else await printLine(context, "They are not started. To trust it later: cody trust");
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
