/** The export formats with their file extensions. */
const endings = {
  markdown: "md",
  html: "html",
  json: "json",
  codex: "jsonl",
  envoy: "jsonl",
  diligent: "jsonl",
} as const;

export type ExportFormat = keyof typeof endings;
export const exportFormats = Object.keys(endings) as ExportFormat[];
export const defaultExportFormat: ExportFormat = "markdown";

export function isExportFormat(text: string): text is ExportFormat {
  return Object.hasOwn(endings, text);
}

export function endingOf(format: ExportFormat): string {
  return endings[format];
}
