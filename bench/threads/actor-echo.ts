import { serveActor } from "../../src/actors/runtime/serve-actor.js";
import { echo } from "../support/echo.js";

serveActor(echo);
