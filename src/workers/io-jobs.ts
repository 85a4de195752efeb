/** What the pool for waiting can do: nothing yet. */
export type IoJobs = Record<never, never>;
