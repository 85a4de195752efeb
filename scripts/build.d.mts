export function build(options: { declarations: boolean }): Promise<void>;
