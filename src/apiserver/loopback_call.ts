/** loopbackCall(): a call to a verb that the server makes on its own account, as `kube-apiserver`. */
import type { User } from "./model/mod.ts";
import type { Call, KnownKind } from "./registry/mod.ts";

/** Who the server is when it acts on its own. */
export const loopbackUser: User = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

/** Where the object is. */
export interface LoopbackTarget {
  /** @default "" */
  readonly namespace?: string;
  /** @default "" */
  readonly subresource?: string;
}

/** The call. */
export function loopbackCall({ kind, family }: KnownKind, target: LoopbackTarget = {}): Call {
  return {
    kind,
    family,
    namespace: target.namespace ?? "",
    subresource: target.subresource ?? "",
    user: loopbackUser,
    fieldManager: "kube-apiserver",
    fieldValidation: "Ignore",
    isDryRun: false,
    options: {},
    signal: new AbortController().signal,
    authorize: () => {},
    warn: () => {},
  };
}
