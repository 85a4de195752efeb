/** What a conversation can be imported from. Loads no schema library: the command line names them. */
export const importFormats = ["codex", "turns", "envoy", "diligent", "json", "claude-code", "pi"] as const;
export type ImportFormat = (typeof importFormats)[number];

export function isImportFormat(text: string): text is ImportFormat {
  return importFormats.some((format) => format === text);
}
