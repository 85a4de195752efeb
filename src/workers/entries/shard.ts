import { serveShard } from "../../actors/shards/shard-thread.js";

void serveShard();
