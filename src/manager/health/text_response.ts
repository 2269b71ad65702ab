/** What all endpoints share: plain text responses, and which addresses belong to this machine. */

/** A text response that browsers do not interpret and caches do not store. */
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

/** 405, with the allowed methods. */
export function methodNotAllowed(allowed: string): Response {
  return textResponse(405, "method not allowed\n", { allow: allowed });
}

/** True for an address or host name that only this machine can reach: 127.0.0.0/8, ::1, localhost. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").replace(/^::ffff:/i, "").toLowerCase();
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}
