const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

/** Of an environment only what says how to leave the machine: a thread that sends a request needs nothing else of it. */
export function proxyEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const said = names.flatMap((name): [string, string][] => (env[name] === undefined ? [] : [[name, env[name]]]));
  return Object.fromEntries(said);
}
