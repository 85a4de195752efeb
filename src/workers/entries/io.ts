import type { IoJobs } from "../open-io-pool.js";
import { serveJobs } from "../job.js";
import { summaryJob } from "../summary-job.js";

export default serveJobs<IoJobs>({ summarize: summaryJob() });
