/**
 * playCase(): plays the requests of one case on one server.
 *
 * Guarantees: the namespace that it creates is deleted, and the cleanup of the case is sent, also after an error and after a
 * signal. A watch is open from its place in the list of requests on; its events come last in the transcript.
 */
import { type Clock, onAbort, scope, untilAborted } from "../../async/mod.ts";
import { CaseRecorder, type OpenWatch, type Send, type Transcript } from "./case_recorder.ts";
import { type FileRequest, placeholders, type RequestCase } from "./request_files.ts";

/** A user to act as. */
export interface ImpersonatedUser {
  readonly user: string;
  readonly groups: readonly string[];
}

/** One of the servers. */
export interface ComparedServer {
  readonly send: Send<ImpersonatedUser>;
  /** False where no controller creates ServiceAccounts. */
  readonly hasControllers: boolean;
}

/** Options of {@link playCase}. */
export interface PlayOptions {
  /** A word that no other run uses. */
  readonly unique: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds for each request, its response included; Infinity for no limit. A watch has those of its `timeoutSeconds`, too. */
  readonly requestTimeoutMs: number;
}

/** How long a controller may take to create the ServiceAccount of a namespace, and how often it is looked for. */
const [accountPatienceMs, accountPeriodMs] = [10_000, 200];

/** Plays a case. @throws Error when a server cannot be reached, or does not create or delete the namespace */
export async function playCase(
  subject: RequestCase,
  server: ComparedServer,
  options: PlayOptions,
): Promise<Transcript> {
  const { unique, signal } = options;
  const run = new CaseRecorder({ send: timed(server, options, signal), unique });
  const played = await settled(async () => {
    if (subject.hasNamespace) await run.createNamespace();
    if (subject.serviceAccount) await ensureServiceAccount(run, server, options);
    await playRequests(run, subject.requests, options);
  });
  // A signal does not end this.
  const kept = { ...options, signal: new AbortController().signal };
  const cleaned = await cleanUp(new CaseRecorder({ send: timed(server, kept, kept.signal), unique }), subject, kept);
  for (const { failure } of [played, ...cleaned]) if (failure !== undefined) throw failure;
  return run.steps;
}

interface Settled {
  readonly failure?: unknown;
}

async function settled(act: () => Promise<unknown>): Promise<Settled> {
  try {
    await act();
    return {};
  } catch (failure) {
    return { failure };
  }
}

/** The values of the placeholders of a run, for the texts of a case. */
export function replacer({ namespace, unique }: { readonly namespace: string; readonly unique: string }) {
  return (text: string): string =>
    text.replaceAll(placeholders.namespace, namespace).replaceAll(placeholders.unique, unique);
}

async function playRequests(
  run: CaseRecorder<ImpersonatedUser>,
  requests: readonly FileRequest[],
  { clock, signal, requestTimeoutMs }: PlayOptions,
): Promise<void> {
  const replaced = replacer(run);
  const watches: { readonly open: OpenWatch; readonly timeoutMs: number }[] = [];
  try {
    for (const request of requests) {
      const { method, path, body, contentType: type, accept, headers, as: subject, watch } = withValues(
        request,
        replaced,
      );
      if (watch === undefined) {
        await run.call({ method, path, body, type, accept, headers, subject, sortsCauses: true });
      } else {
        const { events: count, timeoutSeconds } = watch;
        const open = await run.openWatch(path, { count, timeoutSeconds, accept, headers, subject });
        watches.push({ open, timeoutMs: timeoutSeconds * 1_000 + requestTimeoutMs });
      }
    }
    for (const { open, timeoutMs } of watches) {
      using limit = scope(signal, { clock, timeoutMs });
      using _closing = onAbort(limit.signal, () => open.close(limit.signal.reason));
      await open.record();
    }
  } finally {
    for (const { open } of watches) open.close();
  }
}

/** The request with the values of its placeholders, in each of its texts. */
function withValues(request: FileRequest, replaced: (text: string) => string): FileRequest {
  const copy = (value: unknown): unknown => {
    if (typeof value === "string") return replaced(value);
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [replaced(name), copy(item)]));
  };
  const { path, body, headers, as: sender } = request;
  return {
    ...request,
    path: replaced(path),
    ...(body === undefined ? {} : { body: copy(body) }),
    ...(headers === undefined ? {} : { headers: copy(headers) as Record<string, string> }),
    ...(sender === undefined
      ? {}
      : { as: { user: replaced(sender.user), groups: sender.groups.map((group) => replaced(group)) } }),
  };
}

/** Deletes what the case has created. Each step is tried. */
async function cleanUp(
  run: CaseRecorder<ImpersonatedUser>,
  subject: RequestCase,
  options: PlayOptions,
): Promise<readonly Settled[]> {
  const results: Settled[] = [];
  for (const request of subject.cleanup) results.push(await settled(() => playRequests(run, [request], options)));
  if (subject.hasNamespace) results.push(await settled(() => run.deleteNamespace()));
  return results;
}

async function ensureServiceAccount(
  run: CaseRecorder<ImpersonatedUser>,
  { hasControllers }: ComparedServer,
  { clock, signal }: PlayOptions,
): Promise<void> {
  const path = `/api/v1/namespaces/${run.namespace}/serviceaccounts`;
  const until = clock.monotonic() + (hasControllers ? accountPatienceMs : 0);
  while (clock.monotonic() < until) {
    const response = await run.send(`${path}/default`, {});
    await response.body?.cancel();
    if (response.ok) return;
    await clock.sleep(accountPeriodMs, signal);
  }
  const body = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
  await run.prepare({ path, body });
}

/** Statuses of responses without a body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Sends with a time limit, which includes the body of the response; that of a watch is read later. */
function timed(
  { send }: ComparedServer,
  { clock, requestTimeoutMs: timeoutMs }: PlayOptions,
  signal: AbortSignal,
): Send<ImpersonatedUser> {
  return async (path, init, subject) => {
    using limit = scope(signal, { clock, timeoutMs });
    const isWatch = init.signal !== undefined && init.signal !== null;
    if (isWatch) return await untilAborted(send(path, init, subject), limit.signal);
    const response = await send(path, { ...init, signal: limit.signal }, subject);
    const { status, headers } = response;
    const body = await untilAborted(response.arrayBuffer(), limit.signal);
    return new Response(bodiless.has(status) ? null : body, { status, headers });
  };
}
