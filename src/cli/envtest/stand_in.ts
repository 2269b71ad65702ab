/**
 * runStandIn(): this program in the place of `etcd`, `kube-apiserver` or `kubectl`, as the files of `envtest` start it. It
 * speaks as they do: help and version on stdout, an error as one line on stderr, SIGTERM ends it at once.
 */
import { delimiter } from "node:path";
import { isProcessAlive, joinPath, processFacts, readStart } from "../../runtime/mod.ts";
import { type ExitCode, exitCode, runChild, type Session } from "../command/mod.ts";
import { isOwnScript } from "./assets.ts";
import { serveEtcd, takeEtcd } from "./etcd.ts";
import { type FlagProgram, FlagWordError, type FlagWords, helpOfFlags, readFlagWords } from "./flag_words.ts";
import {
  apiServerProgram,
  clusterVariable,
  etcdProgram,
  etcdVersion,
  kubernetesVersion,
  ownerVariable,
  standIns,
} from "./programs.ts";

/** How often a server looks whether `envtest -- COMMAND` still runs, in milliseconds. */
const ownerCheckMs = 500;

/** Runs until a signal ends it. @returns the exit code: 0 after a signal, that of the original after an error */
export async function runStandIn([name = "", ...args]: readonly string[], session: Session): Promise<ExitCode> {
  try {
    switch (name) {
      case "etcd":
        return await runEtcd(args, session);
      case "kube-apiserver":
        return await runApiServer(args, session);
      case "kubectl":
        return await runKubectl(args, session);
      default:
        throw new FlagWordError(`there is no stand-in for "${name}": ${standIns.join(", ")}`);
    }
  } catch (error) {
    session.infoDocument(`Error: ${error instanceof Error ? error.message : error}\n`);
    return error instanceof FlagWordError ? error.code : exitCode.failed;
  }
}

async function runEtcd(args: readonly string[], session: Session): Promise<ExitCode> {
  const flags = readFlagWords(args, etcdProgram);
  const about = "Stands in for etcd in tests: it is healthy. The objects are in the process of kube-apiserver.";
  if (answered(flags, session, { program: etcdProgram, about, version: `etcd Version: ${etcdVersion}` })) {
    return exitCode.done;
  }
  const url = clientUrl(flags);
  const ending = ended(session);
  await using _server = await serveEtcd(url);
  await ending;
  return exitCode.done;
}

/** Where clients reach it. @throws FlagWordError for an address that is none */
function clientUrl(flags: FlagWords): URL {
  const text = flags.list("listen-client-urls")[0] ?? "http://127.0.0.1:2379";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" && url.port !== "") return url;
  throw new FlagWordError(`Cannot listen on "${text}": --listen-client-urls of this program is http://HOST:PORT`);
}

async function runApiServer(args: readonly string[], session: Session): Promise<ExitCode> {
  const flags = readFlagWords(args, apiServerProgram);
  const about =
    "Stands in for kube-apiserver in tests. Flags that change how a server runs, and not what it answers, do " +
    "nothing.";
  const version = `Kubernetes v${kubernetesVersion}+pintle`;
  if (answered(flags, session, { program: apiServerProgram, about, version })) return exitCode.done;
  const [etcd] = flags.list("etcd-servers");
  if (etcd === undefined) throw new FlagWordError("--etcd-servers must be specified");
  const stop = new AbortController();
  const ending = ended(session).finally(() => stop.abort());
  const warn = (text: string) => session.info(`Warning: ${text}`);
  const taken = await taking(etcd, session, stop.signal);
  if (taken === "stopped") return exitCode.done;
  if (taken === "taken-over") {
    warn("the objects of the API server that used this etcd before have ended with it");
  }
  // The stand-in for etcd does without it.
  const { startApiServer } = await import("./kube_apiserver.ts");
  await using server = await startApiServer(flags, {
    hasCluster: ["1", "true"].includes(session.environment[clusterVariable] ?? ""),
    onWarning: warn,
    onError: (error) => session.infoDocument(`${error instanceof Error ? error.stack : error}\n`),
  });
  session.info(`Serving securely on ${new URL(server.url).host}`);
  await ending;
  return exitCode.done;
}

/** Takes the etcd. @returns "stopped" when a signal ended the wait for it */
async function taking(url: string, { processEnvironment: { clock } }: Session, signal: AbortSignal) {
  try {
    return await takeEtcd(url, processFacts().pid, { clock, signal });
  } catch (error) {
    if (signal.aborted) return "stopped";
    throw error;
  }
}

/** `kubectl` is not replaced: the next one in PATH does the work. */
async function runKubectl(args: readonly string[], session: Session): Promise<ExitCode> {
  for (const folder of (session.environment.PATH ?? "").split(delimiter)) {
    const path = joinPath(folder, "kubectl");
    const start = folder === "" ? undefined : await readStart(path, 512).catch(() => undefined);
    if (start === undefined || isOwnScript(start)) continue;
    return await runChild([path, ...args], {}, session, new AbortController().signal);
  }
  throw new Error("Cannot run kubectl: there is none in PATH. Install it: this program stands in for servers only");
}

/** Answers --help and --version. */
function answered(
  flags: FlagWords,
  session: Session,
  { program, about, version }: { readonly program: FlagProgram; readonly about: string; readonly version: string },
): boolean {
  const text = flags.isSet("help") ? helpOfFlags(program, about) : flags.isSet("version") ? `${version}\n` : undefined;
  if (text !== undefined) session.printDocument(text);
  return text !== undefined;
}

/** Resolves at the first signal, or when the `envtest -- COMMAND` of the tests has ended without sending one. */
async function ended({ environment, processEnvironment: { clock, onSignal } }: Session): Promise<void> {
  const stop = new AbortController();
  const signalled = Promise.withResolvers<void>();
  using _listening = onSignal(["SIGHUP", "SIGINT", "SIGTERM"], () => {
    stop.abort();
    signalled.resolve();
  });
  const owner = Number(environment[ownerVariable]);
  if (!Number.isSafeInteger(owner) || owner < 1) return await signalled.promise;
  while (!stop.signal.aborted && isProcessAlive(owner)) {
    await clock.sleep(ownerCheckMs, stop.signal).catch(() => {});
  }
}
