import type { IoJobs } from "../io-pool.js";
import { serveJobs } from "../jobs.js";
import { summaryJob } from "../summary-job.js";
import { refuseOtherBuild } from "../same-build.js";

refuseOtherBuild();
export default serveJobs<IoJobs>({ summarize: summaryJob() });
