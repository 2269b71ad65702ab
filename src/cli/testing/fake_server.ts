/**
 * FakeServer: a Transport for tests of commands. Responses come from a table of `METHOD /path` prefixes; every other request
 * gets a 404. It records all requests.
 */
import type { Transport } from "../../client/mod.ts";

/** A response: a body with status 200, or a function of the request. */
export type FakeResponse = object | ((request: Request, count: number) => Response | Promise<Response>);

/** A server for tests. */
export class FakeServer {
  /** `METHOD /path?query` of all requests, in order. */
  readonly requests: string[] = [];
  readonly #responses: ReadonlyMap<string, FakeResponse>;
  readonly #counts = new Map<string, number>();

  /** @param responses By prefixes of `METHOD /path?query`; the longest matching one applies */
  constructor(responses: Readonly<Record<string, FakeResponse>>) {
    this.#responses = new Map(Object.entries({ "GET /version": { gitVersion: "v1.36.3" }, ...responses }));
  }

  readonly transport: Transport = async (request) => {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${search}`;
    this.requests.push(line);
    const [prefix] = [...this.#responses.keys()].filter((key) => line.startsWith(key)).sort((a, b) =>
      b.length - a.length
    );
    const response = prefix === undefined ? undefined : this.#responses.get(prefix);
    if (prefix === undefined || response === undefined) {
      return statusResponse(404, "NotFound", "the server could not find it");
    }
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    return typeof response === "function" ? await response(request, count) : Response.json(response);
  };
}

/** Returns a failure Status. */
export function statusResponse(code: number, reason: string, message: string): Response {
  const status = { apiVersion: "v1", kind: "Status", status: "Failure", code, reason, message };
  return Response.json(status, { status: code });
}
