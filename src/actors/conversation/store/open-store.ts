import { homedir } from "node:os";
import { resolve } from "node:path";
import { gitUser } from "../../../base/git/git-user.js";
import { codexHome, codyHome } from "../../../config/paths.js";
import { conversationPlaces, defaultBlobMegabytes } from "../../../config/places.js";
import type { LearningRedactor } from "../../../config/secrets/learning-redactor.js";
import type { Config } from "../../../messages/config.js";
import { InvalidInputError } from "../../../messages/errors.js";
import type { CpuPool } from "../../../workers/open-cpu-pool.js";
import { CodexLocks } from "../../rollout-writer/codex-lock.js";
import { openOutbox } from "../../rollout-writer/open-outbox.js";
import { fileStore } from "./file-store.js";
import type { ManagerOptions } from "../open/manager-options.js";
import { recorderStore } from "./recorder-store.js";
import type { Store } from "./store.js";

export interface StoreParts {
  readonly cpu: CpuPool;
  readonly redactor: LearningRedactor;
}

/** Where a manager keeps conversations: with the recorder it was given, else in files. */
export function openStore(options: ManagerOptions, config: Config, { cpu, redactor }: StoreParts): Store {
  const { env = {}, outbox, recorder } = options;
  const { persistence } = config;
  if (recorder !== undefined) return recorderStore(recorder);
  const places = conversationPlaces({
    home: homeOf(options),
    codexHome: codexHome({ env, homedir }),
    persistence,
  });
  const writer = persistence?.enabled === false ? undefined : (outbox ?? openOutbox(env));
  const codex = places.codexHome;
  const codexLocks = codex === undefined ? undefined : new CodexLocks({ codexHome: codex, searchPath: env["PATH"] });
  const maxBlobBytes = (persistence?.maxBlobMegabytes ?? defaultBlobMegabytes) * 1_000_000;
  return fileStore({
    places,
    outbox: writer,
    codexLocks,
    pool: cpu,
    redactor,
    secrets: redactor.secrets,
    gitUser: gitUser({ env, homedir }),
    maxBlobBytes,
  });
}

/** Where a manager's files are. */
export function homeOf({ home, env = {} }: Pick<ManagerOptions, "home" | "env">): string {
  if (home === "") throw new InvalidInputError("home: expected the path of a directory");
  // What is written later must not depend on where the process is by then.
  return home === undefined ? codyHome({ env, homedir: homedir() }) : resolve(home);
}
