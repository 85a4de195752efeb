export function build(options: { declarations: boolean }): Promise<void>;
export function buildIfNeeded(): Promise<void>;

/** The source of each file that programs import, by its name in `dist`. */
export const library: Readonly<Record<string, string>>;
