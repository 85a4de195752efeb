import { serveActor } from "../../../src/actors/runtime/serve-actor.js";
import { createProbe } from "../probe-actor.js";

serveActor(createProbe());
