import * as z from "zod";

/** The name of a tool, also used in its calls. */
export const itemName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);
