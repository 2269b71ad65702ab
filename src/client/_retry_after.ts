/** The Retry-After header: how long the server wants to be left alone, capped (behaviours.md 74, security 21). */

/** Longest wait in milliseconds: a server that says a year is wrong or hostile. */
export const longestRetryAfterMs = 5 * 60_000;

/** Milliseconds to wait, or undefined when the header is missing or no number of seconds, which is all servers send. */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,20}$/.test(text) ? Math.min(Number(text) * 1000, longestRetryAfterMs) : undefined;
}
