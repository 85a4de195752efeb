/** The import formats. Loads no schema library, because the command line lists them. */
export const importFormats = ["codex", "turns", "envoy", "diligent", "json", "claude-code", "pi"] as const;
export type ImportFormat = (typeof importFormats)[number];

export function isImportFormat(text: string): text is ImportFormat {
  return importFormats.some((format) => format === text);
}
