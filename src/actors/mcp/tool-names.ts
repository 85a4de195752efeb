import { createHash } from "node:crypto";

const maxChars = 64;
const hashChars = 8;

/** The name a model has for a tool: `mcp__server__tool`, in characters and of a length every wire API takes. */
export function toolName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `mcp__${server}__${tool}`;
  const fit = plain.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // What was changed could be the name of another: a hash of the whole tells them apart.
  if (fit === plain && fit.length <= maxChars && !taken.has(fit)) return fit;
  for (let count = 0; ; count += 1) {
    const hash = createHash("sha256").update(`${plain}\0${count}`).digest("hex").slice(0, hashChars);
    const name = `${fit.slice(0, maxChars - hashChars - 1)}_${hash}`;
    if (!taken.has(name)) return name;
  }
}
