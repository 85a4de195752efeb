import type { IoJobs } from "../io-jobs.js";
import { serveJobs } from "../serve-jobs.js";

export default serveJobs<IoJobs>({});
