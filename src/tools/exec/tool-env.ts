const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * Variables for the user's identity, locale and tool locations. None of them can contain a secret or lead to one: no
 * proxy or package index addresses (which may contain passwords), no agent sockets, no runtime folder with such
 * sockets.
 */
const passedOn = [
  ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"],
  ["LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES"],
  ["LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME"],
  ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
  ["JAVA_HOME", "ANDROID_HOME", "SDKMAN_DIR", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME"],
  ["NVM_DIR", "FNM_DIR", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR"],
  ["VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "RBENV_ROOT"],
  // Behind an inspecting proxy, downloads fail without its certificate.
  ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"],
].flat();

/** The environment for a tool's processes: an allow list, plus the names that the user added. */
export function toolEnv(
  env: Readonly<Record<string, string | undefined>>,
  extraNames: readonly string[] = [],
): Record<string, string> {
  const names = new Set([...passedOn, ...extraNames]);
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && names.has(name) ? [[name, value] as const] : [],
  );
  return { PATH: defaultPath, ...Object.fromEntries(passed) };
}
