/** quotaStatusWriter(): what a ResourceQuota has used, written into its status as the server's own doing. */
import { draftOf, type JsonObject, Refusal } from "./model/mod.ts";
import type { SetUsed } from "./plugins/mod.ts";
import { metadataText, type Registry } from "./registry/mod.ts";
import { loopbackCall } from "./loopback_call.ts";

/** @param registry asked for when something is written: admission is made before the registry is */
export function quotaStatusWriter(registry: () => Registry): SetUsed {
  return async (quota, used) => {
    const { kinds } = registry();
    const known = kinds.find("", "v1", "resourcequotas");
    if (known === undefined) return true;
    const call = loopbackCall(known, { namespace: metadataText(quota, "namespace"), subresource: "status" });
    const next = withUsed(quota, Object.fromEntries(used));
    try {
      await registry().put(call, metadataText(quota, "name"), () => draftOf(next));
      return true;
    } catch (error) {
      // 404: a quota that has gone bounds nothing.
      if (error instanceof Refusal && error.status.code === 404) return true;
      if (error instanceof Refusal && error.status.code === 409) return false;
      throw error;
    }
  };
}

function withUsed(quota: JsonObject, used: JsonObject): JsonObject {
  const { status } = quota;
  return { ...quota, status: { ...(typeof status === "object" ? status : {}), used } };
}
