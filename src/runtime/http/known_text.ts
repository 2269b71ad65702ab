/**
 * The texts of requests and responses whose sender and receiver are in the same process, so that nothing has to be encoded,
 * streamed and decoded: a test environment, the simulation, and every program with an embedded API server.
 *
 * Guarantees: a known text is what reading the body as UTF-8 would give. Whoever does not ask for it reads the body as usual.
 * Caveats: a copy of a Request or Response, as `clone()` makes it, has no known text.
 */

/** Longer texts are rare, and keeping them would need memory. */
const maxKnownLength = 64 * 1024;

const requestTexts = new WeakMap<Request, string>();
const responseTexts = new WeakMap<Response, string>();

/** Remembers the text that a request was created with, unless it is long, or UTF-8 cannot represent it. */
export function rememberBody(request: Request, text: string): void {
  if (text.length <= maxKnownLength && text.isWellFormed()) requestTexts.set(request, text);
}

/** The body of a request as text; undefined when it is not known without reading it. */
export function knownBodyOf(request: Request): string | undefined {
  return requestTexts.get(request);
}

/** Remembers the text that a response was created with as {@link rememberBody} does, and returns the response. */
export function rememberText(response: Response, text: string): Response {
  if (text.length <= maxKnownLength && text.isWellFormed()) responseTexts.set(response, text);
  return response;
}

/** The body of a response as text; undefined when it is not known without reading it. */
export function knownTextOf(response: Response): string | undefined {
  return responseTexts.get(response);
}
