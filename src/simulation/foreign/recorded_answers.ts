/**
 * RecordedAnswers: an application that an operator talks to, as a file: which HTTP request, or which command in a container, has
 * which answer. It stands in for programs whose images never run here.
 *
 * Guarantees: the first answer that fits and is not used up counts, so a run with the same requests gets the same answers; a
 * request without an answer is a 404, and is remembered for the report.
 */
import type { ExecAnswer, ExecCall } from "../../apiserver/mod.ts";
import { boundedParse, dotPath, z } from "../../schema/mod.ts";

const pattern = z.string().min(1).max(4_096);
const times = z.int().min(1).max(1_000_000).optional();

const httpAnswer = z.strictObject({
  method: z.string().regex(/^[A-Z]+$/, "a method such as GET is needed").optional(),
  path: pattern,
  status: z.int().min(200).max(599).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  times,
});

const execAnswer = z.strictObject({
  command: pattern,
  pod: pattern.optional(),
  container: pattern.optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  exitCode: z.int().min(0).max(255).optional(),
  times,
});

const fileSchema = z.strictObject({
  http: z.array(httpAnswer).max(10_000).optional(),
  exec: z.array(execAnswer).max(10_000).optional(),
});

type HttpAnswer = z.output<typeof httpAnswer>;
type CommandAnswer = z.output<typeof execAnswer>;

/** Requests without an answer that are remembered. */
const maxUnanswered = 20;

/** The answers of one file. */
export class RecordedAnswers {
  readonly #http: readonly HttpAnswer[];
  readonly #exec: readonly CommandAnswer[];
  readonly #used = new Map<object, number>();
  readonly #unanswered = new Set<string>();

  private constructor({ http = [], exec = [] }: z.output<typeof fileSchema>) {
    this.#http = http;
    this.#exec = exec;
  }

  /** Reads the value of a YAML document. @param name for messages @throws SyntaxError when it has another form */
  static parse(value: unknown, name: string): RecordedAnswers {
    const parsed = boundedParse(fileSchema, value);
    if (parsed.kind === "valid") return new RecordedAnswers(parsed.value);
    const [issue] = parsed.issues;
    const place = dotPath(issue?.path ?? []);
    const state = `${place === "" ? "" : `${place}: `}${issue?.message}`;
    throw new SyntaxError(`Cannot read the recorded answers in "${name}": ${state}`);
  }

  /** Whether there are answers to HTTP requests. */
  get hasHttp(): boolean {
    return this.#http.length > 0;
  }

  /** Requests that had no answer, in words. */
  get unanswered(): readonly string[] {
    return [...this.#unanswered];
  }

  /** Begins again with the first answers, as an application that has lost its state. */
  reset(): void {
    this.#used.clear();
  }

  /** Answers an HTTP request. */
  respond(request: Request): Response {
    const { pathname, search } = new URL(request.url);
    const asked = `${pathname}${search}`;
    const answer = this.#take(
      this.#http,
      ({ method, path }) =>
        (method === undefined || method === request.method) && (fits(path, asked) || fits(path, pathname)),
    );
    if (answer === undefined) {
      this.#remember(`${request.method} ${asked}`);
      return new Response("no answer is recorded for this request\n", { status: 404 });
    }
    const { status = 200, headers = {}, body } = answer;
    const isText = body === undefined || typeof body === "string";
    const isBodiless = status === 204 || status === 205 || status === 304;
    return new Response(isBodiless ? null : isText ? body ?? "" : JSON.stringify(body), {
      status,
      headers: { "content-type": isText ? "text/plain" : "application/json", ...headers },
    });
  }

  /** Answers a command in a container. undefined: nothing is recorded. */
  execute({ pod, container, command }: ExecCall): ExecAnswer | undefined {
    const text = command.join(" ");
    return this.#take(
      this.#exec,
      (answer) =>
        fits(answer.command, text) && fits(answer.pod ?? "*", pod) && fits(answer.container ?? "*", container),
    );
  }

  #take<T extends { readonly times?: number }>(answers: readonly T[], isFor: (answer: T) => boolean): T | undefined {
    const answer = answers.find((one) => isFor(one) && (this.#used.get(one) ?? 0) < (one.times ?? Infinity));
    if (answer !== undefined) this.#used.set(answer, (this.#used.get(answer) ?? 0) + 1);
    return answer;
  }

  #remember(request: string): void {
    if (this.#unanswered.size < maxUnanswered) this.#unanswered.add(request);
  }
}

/** Whether a text fits a pattern, in which `*` is any text. */
function fits(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
