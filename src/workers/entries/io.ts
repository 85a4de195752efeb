import type { IoJobs } from "../io-pool.js";
import { serveJobs } from "../jobs.js";
import { summaryJob } from "../summary-job.js";

export default serveJobs<IoJobs>({ summarize: summaryJob() });
