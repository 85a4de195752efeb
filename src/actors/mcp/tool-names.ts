import { createHash } from "node:crypto";

const maxToolNameChars = 64;
const hashChars = 8;

/** Returns the model's name for a tool: `mcp__server__tool`, in characters and a length that every wire API accepts. */
export function toolName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `mcp__${server}__${tool}`;
  const fit = plain.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // A changed name could equal another tool's name, so it gets a hash of the original.
  if (fit === plain && fit.length <= maxToolNameChars && !taken.has(fit)) return fit;
  for (let count = 0; ; count += 1) {
    const hash = createHash("sha256").update(`${plain}\0${count}`).digest("hex").slice(0, hashChars);
    const name = `${fit.slice(0, maxToolNameChars - hashChars - 1)}_${hash}`;
    if (!taken.has(name)) return name;
  }
}
