import { serveActor } from "../../../src/actors/system/serve-actor.js";
import { createProbe } from "../probe-actor.js";

serveActor(createProbe());
