const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * Who the user is, how they speak, and where their tools lie. Nothing here can hold a secret or lead to one: no
 * proxies and index addresses (passwords stand in them), no sockets of agents, no runtime folder with such sockets.
 */
const passedOn = [
  ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"],
  ["LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES"],
  ["LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME"],
  ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
  ["JAVA_HOME", "ANDROID_HOME", "SDKMAN_DIR", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME"],
  ["NVM_DIR", "FNM_DIR", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR"],
  ["VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "RBENV_ROOT"],
  // Behind an inspecting proxy nothing can be fetched without its certificate.
  ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"],
].flat();

/** The environment a tool's processes get: an allow list, and the names the user added. */
export function toolEnv(
  env: Readonly<Record<string, string | undefined>>,
  extraNames: readonly string[] = [],
): Record<string, string> {
  const names = new Set([...passedOn, ...extraNames]);
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && names.has(name) ? [[name, value] as const] : [],
  );
  return { PATH: defaultPath, ...Object.fromEntries(kept) };
}
