/** Answers of the server, and those that a fault puts in their place. */

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number;
  /** Of the object in it, "" where there is none. */
  readonly resourceVersion: string;
  readonly name: string;
  /** The same answer, to be read by the operator. */
  response(): Response;
}

const version = /"resourceVersion":"(\d+)"/;
const name = /"name":"([^"]*)"/;

/** Reads an answer. */
export async function answered(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  return {
    status,
    resourceVersion: version.exec(text)?.[1] ?? "",
    name: name.exec(text)?.[1] ?? "",
    response: () => new Response(text, { status, headers }),
  };
}

const reasons: ReadonlyMap<number, string> = new Map([
  [409, "Conflict"],
  [410, "Expired"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);

/** What a server says when it does not do what it is asked. */
export function errorStatus(code: number, retryAfterSeconds?: number): object {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const message = `the simulation answers ${code}`;
  return {
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message },
    reason: reasons.get(code) ?? "Unknown",
    ...details,
    code,
  };
}

/** The same as an answer. */
export function errorAnswer(code: number, retryAfterSeconds?: number): Response {
  const headers = new Headers({ "content-type": "application/json" });
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  return new Response(JSON.stringify(errorStatus(code, retryAfterSeconds)), { status: code, headers });
}

/** What a transport throws when a connection breaks. */
export function reset(state: string): Error {
  return Object.assign(new TypeError(`fetch failed: ${state}`), { code: "ECONNRESET" });
}
