import { rolloutWriter } from "../../actors/rollout-writer/rollout-writer.js";
import { serveActor } from "../../actors/runtime/serve-actor.js";

serveActor(rolloutWriter);
