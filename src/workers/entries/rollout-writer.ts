import { rolloutWriter } from "../../actors/rollout-writer/rollout-writer.js";
import { serveActor } from "../../actors/system/serve-actor.js";

serveActor(rolloutWriter);
