import { RolloutWriter, threadFileSystem } from "../../actors/rollout-writer/rollout-writer.js";
import { serveWriter } from "../../actors/rollout-writer/serve-writer.js";

serveWriter(new RolloutWriter(threadFileSystem));
