/**
 * `pods/log`: no container runs, so the log is one line that says so, written when the container started. The options of
 * kubectl logs apply to it; a log that is followed ends when the Pod does not run any more, or its client leaves.
 */
import { type Clock, onAbort } from "../../async/mod.ts";
import { badRequest, isJsonArray, isJsonObject, type Json, type JsonObject, notFound, read } from "../model/mod.ts";
import { objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import type { ActionCall, SubresourceHandler } from "../registry/mod.ts";

/** The handler of logs. */
export function podLogHandler(clock: Clock): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "log",
    handle(call) {
      const { registry, namespace, name, query } = call;
      const pod = registry.storage.get("pods", namespace, name);
      if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
      const spec = objectAt(pod, "spec");
      checkContainer(spec, name, query.get("container") ?? "");
      // Without a node there is no log.
      if (textAt(spec, "nodeName") === "") return { kind: "response", response: new Response(null, { status: 204 }) };
      if (isOn(query, "previous")) {
        const container = query.get("container") ?? textAt(objectsAt(spec, "containers")[0] ?? {}, "name");
        throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
      }
      const text = selectedLog(call, pod, clock.now());
      const body = isOn(query, "follow") ? followed(call, text, clock) : text;
      return { kind: "response", response: new Response(body, { headers: { "content-type": "text/plain" } }) };
    },
  };
}

/** True for an option that is on. */
export function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)?.toLowerCase();
  return value !== undefined && value !== "" && value !== "false" && value !== "0";
}

/** The line, if the options select it. @throws StatusError 400 for a malformed option */
function selectedLog({ namespace, name, query }: ActionCall, pod: JsonObject, now: number): string {
  const started = textAt(objectAt(pod, "status"), "startTime");
  const at = started === "" ? textAt(objectAt(pod, "metadata"), "creationTimestamp") : started;
  const sinceSeconds = countIn(query, "sinceSeconds");
  const sinceTime = query.get("sinceTime");
  if (sinceTime !== null && Number.isNaN(Date.parse(sinceTime))) {
    throw badRequest(`parsing time ${JSON.stringify(sinceTime)}: it is not an RFC 3339 time`);
  }
  const since = sinceSeconds !== undefined ? now - sinceSeconds * 1000 : sinceTime !== null ? Date.parse(sinceTime) : 0;
  if (Date.parse(at) < since || countIn(query, "tailLines") === 0) return "";
  const line = simulatedLog(namespace, name);
  return (isOn(query, "timestamps") ? `${at} ${line}` : line).slice(0, countIn(query, "limitBytes"));
}

function countIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`${name}: Invalid value: ${JSON.stringify(text)}`);
  return Number(text);
}

/** How often a followed Pod is looked at. */
const pollMs = 1_000;

/** The text, and the end when the Pod does not run any more. */
function followed(
  { registry, namespace, name, signal }: ActionCall,
  text: string,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const listening = onAbort(signal, () => stop.abort());
  const isRunning = () => {
    const pod = registry.storage.get("pods", namespace, name);
    const phase = pod === undefined ? "" : textAt(objectAt(pod, "status"), "phase");
    return phase === "Running" || phase === "Pending";
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      void follow(controller);
    },
    cancel: () => stop.abort(),
  });
  async function follow(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      while (isRunning()) await clock.sleep(pollMs, stop.signal);
      controller.close();
    } catch {
      // The client has left, so the stream has no reader.
    } finally {
      listening[Symbol.dispose]();
    }
  }
}

/** The log of every container. */
export function simulatedLog(namespace: string, name: string): string {
  return `Pod ${namespace}/${name} is simulated: no container runs, and nothing is logged.\n`;
}

/** Checks the name of a container; "" is allowed when there is one. @throws StatusError 400 */
export function checkContainer(spec: JsonObject, pod: string, container: string): void {
  const namesOf = (key: string) => {
    const containers = read<Json>(spec, key);
    return isJsonArray(containers) ? containers.filter(isJsonObject).map((each) => textAt(each, "name")) : [];
  };
  const all = ["initContainers", "containers", "ephemeralContainers"].flatMap(namesOf);
  if (container === "" && namesOf("containers").length > 1) {
    throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${all.join(" ")}]`);
  }
  if (container !== "" && !all.includes(container)) {
    throw badRequest(`container ${container} is not valid for pod ${pod}`);
  }
}
