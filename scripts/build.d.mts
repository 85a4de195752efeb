export function build(options: { declarations: boolean }): Promise<void>;
export function buildIfNeeded(): Promise<void>;
