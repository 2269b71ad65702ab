/** `pods/log`: there is no container, so there is one line that says so. */
import { badRequest, isJsonObject, type Json, notFound, read } from "../model/mod.ts";
import type { SubresourceHandler } from "../registry/mod.ts";

export const podLogHandler: SubresourceHandler = {
  collection: "pods",
  subresource: "log",
  handle({ registry, namespace, name, query }) {
    const pod = registry.storage.get("pods", namespace, name);
    if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
    const spec = read<Json>(pod, "spec");
    const containers = isJsonObject(spec) && Array.isArray(spec.containers) ? spec.containers : [];
    const names = containers.map((container) => isJsonObject(container) ? `${container.name}` : "");
    const wanted = query.get("container") ?? "";
    if (wanted === "" && names.length > 1) {
      throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
    }
    if (wanted !== "" && !names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
    const text = `Pod ${namespace}/${name} is simulated: no container runs, and nothing is logged.\n`;
    return { kind: "response", response: new Response(text, { headers: { "content-type": "text/plain" } }) };
  },
};
