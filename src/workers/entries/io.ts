import type { IoJobs } from "../io-pool.js";
import { serveJobs } from "../jobs.js";
import { refuseOtherBuild } from "../same-build.js";
import { summaryJobs } from "../summary-job.js";

refuseOtherBuild();
export default serveJobs<IoJobs>(summaryJobs());
