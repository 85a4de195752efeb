/** The names of files that hold keys, tokens and passwords, wherever they are. */
const secretNames = [
  /^\.env(?:\.|$)(?!example$|sample$|template$|dist$)/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /^\.(?:netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials)$/,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini))?$/,
];

/** The names of secret files as globs, for a search that cannot ask about each file. */
export const secretGlobs: readonly string[] = [
  ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore"],
  ["**/*.kdbx", "**/id_{rsa,dsa,ecdsa,ed25519}", "**/id_{ecdsa,ed25519}_sk"],
  ["**/.{netrc,pgpass,npmrc,pypirc,htpasswd,git-credentials}"],
  ["**/{credentials,secret,secrets}", "**/{credentials,secret,secrets}.{json,yml,yaml,toml,ini}"],
].flat();

/** Whether a file with this name holds secrets. */
export function isSecretFile(name: string): boolean {
  const lower = name.toLowerCase();
  return secretNames.some((pattern) => pattern.test(lower));
}

/** Files and folders of a user's home with keys, tokens, passwords, cookies or everything that was typed into a shell. */
const secretsInHome = [
  [".ssh", ".gnupg", ".pki", ".password-store", ".local/share/keyrings", ".local/share/kwalletd"],
  [".aws", ".azure", ".config/gcloud", ".oci", ".kube", ".docker/config.json", ".config/containers/auth.json"],
  [".netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml"],
  [".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".config/op"],
  [".pgpass", ".my.cnf", ".mylogin.cnf", ".vault-token", ".terraform.d/credentials.tfrc.json", ".terraformrc"],
  [".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".composer/auth.json"],
  [".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"],
  [".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium"],
  [".bash_history", ".zsh_history", ".sh_history", ".local/share/fish/fish_history", ".python_history"],
  [".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".lesshst"],
  [".viminfo", ".local/state/nvim/shada", ".wget-hsts", ".config/rclone", ".config/filezilla", ".purple"],
].flat();

/** The same outside of homes; most of them only root can read. */
const secretsOfSystem = [
  ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"],
  ["/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/wireguard", "/etc/openvpn"],
  ["/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key"],
  ["/etc/NetworkManager/system-connections", "/etc/docker/key.json", "/var/lib/sss", "/var/lib/NetworkManager"],
].flat();

/** The absolute paths of files and folders with secrets, for a user with this home. */
export function secretPaths(home: string): string[] {
  return [...secretsInHome.map((path) => `${home}/${path}`), ...secretsOfSystem];
}
