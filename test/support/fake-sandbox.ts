import { fileURLToPath } from "node:url";

/** A PATH with a program that claims to be a working sandbox; commands run without being confined. */
export const pathWithSandbox = `${fileURLToPath(new URL("bwrap/works", import.meta.url))}:${process.env["PATH"] ?? ""}`;
