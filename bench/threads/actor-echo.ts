import { serveActor } from "../../src/actors/system/serve-actor.js";
import { echo } from "../support/echo.js";

serveActor(echo);
