import type { IoJobs } from "../io-jobs.js";
import { serveJobs } from "../serve-jobs.js";
import { summaryJob } from "../summary-job.js";

export default serveJobs<IoJobs>({ summarize: summaryJob() });
