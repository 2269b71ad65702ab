/**
 * FakeServer: a Transport for tests of commands. Answers come from a table of `METHOD /path` prefixes; what is not in it is
 * a 404, as a server without that kind gives it. Keeps what was asked.
 */
import type { Transport } from "../../client/mod.ts";

/** An answer: a body with status 200, or what a function makes of the request. */
export type Answer = object | ((request: Request, count: number) => Response | Promise<Response>);

/** A server that is none. */
export class FakeServer {
  /** `METHOD /path?query` of all requests, in order. */
  readonly requests: string[] = [];
  readonly #answers: ReadonlyMap<string, Answer>;
  readonly #counts = new Map<string, number>();

  /** @param answers By prefixes of `METHOD /path?query`; the longest that fits counts. */
  constructor(answers: Readonly<Record<string, Answer>>) {
    this.#answers = new Map(Object.entries({ "GET /version": { gitVersion: "v1.36.3" }, ...answers }));
  }

  readonly transport: Transport = async (request) => {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${search}`;
    this.requests.push(line);
    const [prefix] = [...this.#answers.keys()].filter((key) => line.startsWith(key)).sort((a, b) =>
      b.length - a.length
    );
    const answer = prefix === undefined ? undefined : this.#answers.get(prefix);
    if (prefix === undefined || answer === undefined) return failed(404, "NotFound", "the server could not find it");
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    return typeof answer === "function" ? await answer(request, count) : Response.json(answer);
  };
}

/** A Status as servers send it. */
export function failed(code: number, reason: string, message: string): Response {
  const status = { apiVersion: "v1", kind: "Status", status: "Failure", code, reason, message };
  return Response.json(status, { status: code });
}
