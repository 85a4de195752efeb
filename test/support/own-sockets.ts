import { findControlSockets } from "../../src/control/control-sockets.js";

/** The control sockets in the runtime folder of a test; others of this machine may be in the shared folder. */
export async function ownSockets(env: { readonly XDG_RUNTIME_DIR: string }): Promise<string[]> {
  return (await findControlSockets(env)).filter((path) => path.startsWith(env.XDG_RUNTIME_DIR));
}
