const names = [
  /^\.env(?:\.|$)(?!example$|sample$|template$|dist$)/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /^\.(?:netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials)$/,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini))?$/,
];

/** Whether a file is there to hold secrets, by its name: what is in it is read by nobody here, and kept nowhere. */
export function isForSecrets(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return names.some((pattern) => pattern.test(name));
}
