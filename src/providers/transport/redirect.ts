import { FailureError } from "../../messages/errors.js";

/** A redirect is never followed: the key and the conversation are for the address that was configured, no other. */
export function refusedRedirect(status: number, target: string): FailureError {
  const where = URL.canParse(target) ? ` to ${new URL(target).host}` : "";
  const message = `the server answered ${status}, a redirect${where}, which is not followed: set the base URL to its target`;
  return new FailureError({ code: "invalid_request", message, retryable: false });
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
