/**
 * publishAuthentication(): the ConfigMap `extension-apiserver-authentication`, by which other API servers know whose requests name
 * a user, as kube-apiserver writes it: the authority of the front proxy, and the fields with the user.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { objectAt } from "../kinds/mod.ts";
import { isSameJson, type JsonObject } from "../model/mod.ts";
import { newUid, timestamp } from "../registry/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import { type FrontProxy, frontProxyName } from "./backends.ts";

const [namespace, name] = ["kube-system", "extension-apiserver-authentication"];

/** Creates the ConfigMap, or changes its data. */
export function publishAuthentication(
  storage: ObjectStorage,
  { ca }: FrontProxy,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): void {
  const data: JsonObject = {
    "requestheader-allowed-names": JSON.stringify([frontProxyName]),
    "requestheader-client-ca-file": ca,
    "requestheader-extra-headers-prefix": JSON.stringify(["X-Remote-Extra-"]),
    "requestheader-group-headers": JSON.stringify(["X-Remote-Group"]),
    "requestheader-uid-headers": JSON.stringify(["X-Remote-Uid"]),
    "requestheader-username-headers": JSON.stringify(["X-Remote-User"]),
  };
  const known = storage.find("configmaps", namespace, name);
  if (known === undefined) {
    const metadata = { name, namespace, uid: newUid(random), creationTimestamp: timestamp(clock.now()) };
    storage.create("configmaps", namespace, name, { apiVersion: "v1", kind: "ConfigMap", data, metadata });
    return;
  }
  const next = { ...known.object, data: { ...objectAt(known.object, "data"), ...data } };
  if (!isSameJson(next, known.object)) storage.update("configmaps", known, next);
}
