/**
 * pageResponse(): the files of the page, which `page/` has the sources of and `tasks/page.ts` bundles.
 *
 * Guarantees (security 29): the files are the same for everyone and say nothing about a process, so they need no token. A browser
 * runs only this script, asks only this server, and shows the page in no frame. No text becomes markup. The files are
 * loaded with the first request.
 */

const types = {
  "/": "text/html; charset=utf-8",
  "/page.js": "text/javascript; charset=utf-8",
  "/page.css": "text/css; charset=utf-8",
  "/icon.svg": "image/svg+xml",
} as const;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // The next version of the program may listen at the same address.
  "cache-control": "no-store",
} as const;

/** A file of the page. @returns undefined for any other path */
export async function pageResponse(pathname: string): Promise<Response | undefined> {
  if (!isPath(pathname)) return undefined;
  const { pageFiles } = await import("./generated/page_files.ts");
  const bytes = new TextEncoder().encode(pageFiles[pathname]);
  return new Response(bytes, {
    headers: { ...headers, "content-type": types[pathname], "content-length": String(bytes.length) },
  });
}

function isPath(pathname: string): pathname is keyof typeof types {
  return Object.hasOwn(types, pathname);
}
