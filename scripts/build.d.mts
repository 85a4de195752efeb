export function build(options: { declarations: boolean }): Promise<void>;
export function buildIfNeeded(): Promise<void>;

/** The source of each entry point of the library, by its name in `dist`. */
export const library: Readonly<Record<string, string>>;
