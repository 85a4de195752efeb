import { serveShard } from "../../actors/shards/shard-thread.js";
import { refuseOtherBuild } from "../same-build.js";

refuseOtherBuild();
void serveShard();
