/**
 * EtcdStandIn: what test servers ask of etcd: that it is healthy. The objects live in the process of the API server
 * (`kube_apiserver.ts`), which takes the etcd for itself first: two API servers that believe to share an etcd, and do not,
 * would be a puzzle.
 */
import { z } from "zod";
import type { Clock } from "../../async/mod.ts";
import { isProcessAlive, serve, type Server } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";
import { etcdVersion } from "./programs.ts";

/** The path by which an API server takes the etcd. */
const ownerPath = "/pintle/owner";
const ownerSchema = z.object({ pid: z.int().positive() });
const takenSchema = z.object({ pid: z.int().positive(), isTakenOver: z.boolean().optional() });

/** Serves `/health`, `/version` and the owner on one address. @throws PortInUseError, ListenError */
export async function serveEtcd(url: URL, isAlive: (pid: number) => boolean = isProcessAlive): Promise<Server> {
  let owner: number | undefined;
  const take = async (request: Request): Promise<Response> => {
    const parsed = boundedParse(ownerSchema, await request.json().catch(() => undefined));
    if (parsed.kind !== "valid") return Response.json({ error: "no pid" }, { status: 400 });
    const { pid } = parsed.value;
    if (owner !== undefined && owner !== pid && isAlive(owner)) return Response.json({ pid: owner }, { status: 409 });
    const isTakenOver = owner !== undefined && owner !== pid;
    owner = pid;
    return Response.json({ pid, isTakenOver });
  };
  return await serve({
    hostname: url.hostname,
    port: Number(url.port),
    handler: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/health" || pathname === "/readyz" || pathname === "/livez") {
        return Response.json({ health: "true", reason: "" });
      }
      if (pathname === "/version") return Response.json({ etcdserver: etcdVersion, etcdcluster: etcdVersion });
      if (pathname === ownerPath && request.method === "POST") return take(request);
      return new Response("404 page not found\n", { status: 404 });
    },
    onError: () => {},
  });
}

/** How often, and how many times, an API server looks for its etcd: for 20 s, the dial timeout of kube-apiserver's storage. */
const retryMs = 100;
const maxAttempts = 200;

/** Options of {@link takeEtcd}. */
export interface TakeEtcdOptions {
  readonly clock: Clock;
  /** Ends the wait for an etcd that does not answer yet. */
  readonly signal: AbortSignal;
}

/**
 * Takes an etcd for the API server of this process. Waits for one that has not started yet, as kube-apiserver does.
 *
 * @returns whether it is the first one, or comes after one that has ended
 * @throws Error when it cannot be reached for 20 s, when it is a real one, or when it belongs to another API server; the
 * reason of the signal
 */
export async function takeEtcd(url: string, pid: number, options: TakeEtcdOptions): Promise<"new" | "taken-over"> {
  const { status, ok, text } = await askEtcd(url, pid, options);
  const answer = boundedParse(takenSchema, parseJson(text));
  if (status === 409 && answer.kind === "valid") {
    throw new Error(
      `Cannot use etcd ${url}: the API server with the process id ${answer.value.pid} uses it. This program keeps the ` +
        "objects in the API server, so two of them cannot share an etcd: start one API server for each etcd",
    );
  }
  if (ok && answer.kind === "valid") return answer.value.isTakenOver === true ? "taken-over" : "new";
  throw new Error(`Cannot use etcd ${url}: it is not the one of this program. Start the etcd of the same folder`);
}

async function askEtcd(url: string, pid: number, { clock, signal }: TakeEtcdOptions) {
  for (let attempt = 1;; attempt++) {
    signal.throwIfAborted();
    try {
      const response = await fetch(new URL(ownerPath, url), { method: "POST", body: JSON.stringify({ pid }), signal });
      return { status: response.status, ok: response.ok, text: await response.text() };
    } catch (cause) {
      signal.throwIfAborted();
      if (attempt < maxAttempts) {
        await clock.sleep(retryMs, signal);
        continue;
      }
      throw new Error(`Cannot use etcd ${url}: it does not answer. Start the etcd of the same folder`, { cause });
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
