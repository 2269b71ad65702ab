/** `pods/log`: no container runs, so the log is one line that says so. */
import { badRequest, isJsonArray, isJsonObject, type Json, type JsonObject, notFound, read } from "../model/mod.ts";
import { objectAt, textAt } from "../kinds/mod.ts";
import type { SubresourceHandler } from "../registry/mod.ts";

export const podLogHandler: SubresourceHandler = {
  collection: "pods",
  subresource: "log",
  handle({ registry, namespace, name, query }) {
    const pod = registry.storage.get("pods", namespace, name);
    if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
    const spec = objectAt(pod, "spec");
    checkContainer(spec, name, query.get("container") ?? "");
    // Without a node there is no log.
    if (textAt(spec, "nodeName") === "") return { kind: "response", response: new Response(null, { status: 204 }) };
    const text = simulatedLog(namespace, name);
    return { kind: "response", response: new Response(text, { headers: { "content-type": "text/plain" } }) };
  },
};

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
