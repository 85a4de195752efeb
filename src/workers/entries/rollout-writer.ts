import { RolloutWriter, threadFileSystem } from "../../actors/rollout-writer/rollout-writer.js";
import { serveWriter } from "../../actors/rollout-writer/serve-writer.js";
import { refuseOtherBuild } from "../same-build.js";

refuseOtherBuild();
serveWriter(new RolloutWriter(threadFileSystem));
