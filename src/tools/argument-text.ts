import * as z from "zod";

/** A text that can be passed to the system, which would truncate it at a NUL. */
export const ArgumentText = z.string().refine((value) => !value.includes("\0"), "must not contain NUL");

export const PathArgument = ArgumentText.min(1).describe("Relative to the working folder, or absolute");
