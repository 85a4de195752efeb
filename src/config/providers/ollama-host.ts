const ownPort = "11434";

/**
 * The address Ollama's own variable stands for: a host, a port, both, or a whole URL. As Ollama has it, a host without
 * a scheme is on Ollama's port, and a URL on its scheme's.
 */
export function ollamaBaseUrl(host: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(host.trim()) ?? [];
  const [, name = "", port, path = ""] = /^(\[[^\]]*\]|[^:/]*)(?::(\d+))?(\/.*)?$/.exec(rest) ?? [rest, rest];
  const usedPort = port ?? (scheme === undefined ? ownPort : undefined);
  const authority = `${name === "" ? "localhost" : name}${usedPort === undefined ? "" : `:${usedPort}`}`;
  return `${scheme?.toLowerCase() ?? "http"}://${authority}${path.replace(/\/+$/, "")}/v1`;
}
