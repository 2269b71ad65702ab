/** Plain answers of the endpoints. */

/** An answer of text that no browser takes for anything else, and no cache keeps. */
export function textResponse(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** 405, with what would have been allowed. */
export function methodNotAllowed(allowed: string): Response {
  return textResponse(405, "method not allowed\n", { allow: allowed });
}
