/** Defaults of what a cluster is run with: namespaces, Secrets, RBAC, admission, priorities, quotas, API fairness. */
import { type Draft, type DraftValue, put } from "../../model/mod.ts";
import { toBase64 } from "../base64.ts";
import type { Defaulter } from "../filler.ts";
import { draftAt, findDraft, setIfAbsent, setIfEmpty, setIfZero, textAt, textsAt } from "../fields.ts";

const rbacGroup = "rbac.authorization.k8s.io";

function namespace(draft: Draft): void {
  const metadata = draftAt(draft, "metadata");
  const name = textAt(metadata, "name");
  if (name !== "") draftAt(metadata, "labels")["kubernetes.io/metadata.name"] = name;
}

/** Moves what was written as text to where it is kept. */
function encodeStringData(draft: Draft): void {
  const texts = findDraft(draft, "stringData");
  if (texts === undefined) return;
  const data = draftAt(draft, "data");
  for (const [key, value] of Object.entries(texts)) put<DraftValue>(data, key, toBase64(String(value)));
  delete draft["stringData"];
}

/** The one range and the list of them say the same, whichever was written. */
function samePodCidr(draft: Draft): void {
  const [one, many] = [textAt(draft, "podCIDR"), textsAt(draft, "podCIDRs")];
  if (one !== "" && many.length === 0) draft["podCIDRs"] = [one];
  else if (many[0] !== undefined) draft["podCIDR"] = many[0];
}

/** Limits of containers: what is not said follows from what is. */
function limitRangeItem(draft: Draft): void {
  if (textAt(draft, "type") !== "Container") return;
  const limits = draftAt(draft, "default");
  const requests = draftAt(draft, "defaultRequest");
  fillFrom(limits, findDraft(draft, "max"));
  fillFrom(requests, limits);
  fillFrom(requests, findDraft(draft, "min"));
  if (Object.keys(limits).length === 0) delete draft["default"];
  if (Object.keys(requests).length === 0) delete draft["defaultRequest"];
}

function fillFrom(target: Draft, source: Draft | undefined): void {
  for (const [name, amount] of Object.entries(source ?? {})) {
    if (!Object.hasOwn(target, name)) put(target, name, amount);
  }
}

function webhook(draft: Draft): void {
  setIfAbsent(draft, "failurePolicy", "Fail");
  matchRules(draft);
  setIfAbsent(draft, "timeoutSeconds", 10);
}

function matchRules(draft: Draft): void {
  setIfAbsent(draft, "matchPolicy", "Equivalent");
  setIfAbsent(draft, "namespaceSelector", {});
  setIfAbsent(draft, "objectSelector", {});
}

const failurePolicy = (draft: Draft) => setIfAbsent(draft, "failurePolicy", "Fail");
const roleBinding = (draft: Draft) => setIfEmpty(draftAt(draft, "roleRef"), "apiGroup", rbacGroup);

function subject(draft: Draft): void {
  const kind = textAt(draft, "kind");
  if (kind === "User" || kind === "Group") setIfEmpty(draft, "apiGroup", rbacGroup);
}

function customResourceDefinition(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  const names = draftAt(spec, "names");
  const kind = textAt(names, "kind");
  if (kind !== "") {
    setIfEmpty(names, "singular", kind.toLowerCase());
    setIfEmpty(names, "listKind", `${kind}List`);
  }
  setIfAbsent(spec, "conversion", { strategy: "None" });
}

function queuing(draft: Draft): void {
  setIfZero(draft, "handSize", 8);
  setIfZero(draft, "queues", 64);
  setIfZero(draft, "queueLengthLimit", 50);
}

function deviceRequest(draft: Draft): void {
  setIfEmpty(draft, "allocationMode", "ExactCount");
  if (textAt(draft, "allocationMode") === "ExactCount") setIfZero(draft, "count", 1);
}

/** The defaulters of this file, by type. */
export const clusterDefaults: ReadonlyMap<string, Defaulter> = new Map<string, Defaulter>([
  ["core/v1.Namespace", namespace],
  ["core/v1.NamespaceStatus", (draft) => setIfEmpty(draft, "phase", "Active")],
  ["core/v1.Secret", (draft) => {
    encodeStringData(draft);
    setIfEmpty(draft, "type", "Opaque");
  }],
  ["core/v1.NodeSpec", samePodCidr],
  ["core/v1.LimitRangeItem", limitRangeItem],
  ["rbac/v1.ClusterRoleBinding", roleBinding],
  ["rbac/v1.RoleBinding", roleBinding],
  ["rbac/v1.Subject", subject],
  ["scheduling/v1.PriorityClass", (draft) => setIfAbsent(draft, "preemptionPolicy", "PreemptLowerPriority")],
  ["admissionregistration/v1.ValidatingWebhook", webhook],
  ["admissionregistration/v1.MutatingWebhook", (draft) => {
    webhook(draft);
    setIfAbsent(draft, "reinvocationPolicy", "Never");
  }],
  ["admissionregistration/v1.RuleWithOperations", (draft) => setIfAbsent(draft, "scope", "*")],
  ["admissionregistration/v1.NamedRuleWithOperations", (draft) => setIfAbsent(draft, "scope", "*")],
  ["admissionregistration/v1.ServiceReference", (draft) => setIfAbsent(draft, "port", 443)],
  ["admissionregistration/v1.MatchResources", matchRules],
  ["admissionregistration/v1.ValidatingAdmissionPolicySpec", failurePolicy],
  ["admissionregistration/v1.MutatingAdmissionPolicySpec", failurePolicy],
  ["apiextensions/v1.CustomResourceDefinition", customResourceDefinition],
  ["apiextensions/v1.ServiceReference", (draft) => setIfAbsent(draft, "port", 443)],
  ["apiregistration/v1.ServiceReference", (draft) => setIfAbsent(draft, "port", 443)],
  ["authentication/v1.TokenRequestSpec", (draft) => setIfAbsent(draft, "expirationSeconds", 3_600)],
  ["flowcontrol/v1.FlowSchemaSpec", (draft) => setIfZero(draft, "matchingPrecedence", 1_000)],
  ["flowcontrol/v1.ExemptPriorityLevelConfiguration", (draft) => {
    setIfAbsent(draft, "nominalConcurrencyShares", 0);
    setIfAbsent(draft, "lendablePercent", 0);
  }],
  ["flowcontrol/v1.LimitedPriorityLevelConfiguration", (draft) => {
    setIfAbsent(draft, "nominalConcurrencyShares", 30);
    setIfAbsent(draft, "lendablePercent", 0);
  }],
  ["flowcontrol/v1.QueuingConfiguration", queuing],
  ["resource/v1.ExactDeviceRequest", deviceRequest],
  ["resource/v1.DeviceSubRequest", deviceRequest],
]);
