/** NetworkPolicies: rules, defaults and table row. */
import { type Draft, type JsonObject, read } from "../../model/mod.ts";
import {
  ageCell,
  checkSelector,
  cidrErrors,
  cidrWarnings,
  type DefaultsByType,
  FieldPath,
  hasInvalidLabelValue,
  type KindRules,
  nameCell,
  networkOf,
  parseCidr,
  portErrors,
  portNameErrors,
  type Problems,
  type Row,
  rowOf,
  selectorCell,
} from "../rules/mod.ts";
import {
  draftAt,
  findNumber,
  findObject,
  has,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  textsAt,
  valuesAt,
} from "../types/mod.ts";

const protocols = ["TCP", "UDP", "SCTP"];

/** Ingress and egress rules, with the names of their fields for peers. */
const directions = [["ingress", "from"], ["egress", "to"]] as const;

/** NetworkPolicy. */
export const networkPolicyRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  validate: (policy, problems) => checkNetworkPolicy(policy, [], false, problems),
  validateUpdate(policy, old, problems) {
    const known = blocksOf(old).flatMap(({ block }) => [textAt(block, "cidr"), ...textsAt(block, "except")]);
    checkNetworkPolicy(policy, known, hasInvalidLabelValue(findObject(objectAt(old, "spec"), "podSelector")), problems);
  },
  warnings: (policy) =>
    blocksOf(policy).flatMap(({ block, path }) => [
      ...cidrWarnings(path.child("cidr"), textAt(block, "cidr")),
      ...textsAt(block, "except").flatMap((range, index) => cidrWarnings(path.child("except").index(index), range)),
    ]),
};

function blocksOf(policy: JsonObject): readonly { readonly block: JsonObject; readonly path: FieldPath }[] {
  const spec = objectAt(policy, "spec");
  return directions.flatMap(([direction, peers]) =>
    objectsAt(spec, direction).flatMap((rule, index) =>
      objectsAt(rule, peers).flatMap((peer, at) => {
        const block = findObject(peer, "ipBlock");
        const path = FieldPath.of("spec", direction).index(index).child(peers).index(at).child("ipBlock");
        return block === undefined ? [] : [{ block, path }];
      })
    )
  );
}

function checkNetworkPolicy(
  policy: JsonObject,
  known: readonly string[],
  allowsInvalidValues: boolean,
  problems: Problems,
): void {
  const spec = objectAt(policy, "spec");
  const path = FieldPath.of("spec");
  checkSelector(findObject(spec, "podSelector"), path.child("podSelector"), problems, allowsInvalidValues);
  for (const [direction, peers] of directions) {
    objectsAt(spec, direction).forEach((rule, index) => {
      const place = path.child(direction).index(index);
      objectsAt(rule, "ports").forEach((port, at) => checkPolicyPort(port, place.child("ports").index(at), problems));
      objectsAt(rule, peers).forEach((peer, at) =>
        checkPeer(peer, known, allowsInvalidValues, place.child(peers).index(at), problems)
      );
    });
  }
  const types = textsAt(spec, "policyTypes");
  const place = path.child("policyTypes");
  if (types.length > 2) return problems.invalid(place, types, "may not specify more than two policyTypes");
  types.forEach((type, index) => {
    if (type !== "Ingress" && type !== "Egress") problems.notSupported(place.index(index), type, ["Ingress", "Egress"]);
  });
}

function checkPolicyPort(port: JsonObject, path: FieldPath, problems: Problems): void {
  const protocol = textAt(port, "protocol");
  if (!protocols.includes(protocol)) problems.notSupported(path.child("protocol"), protocol, protocols);
  const [number, end] = [read(port, "port") ?? null, findNumber(port, "endPort")];
  const place = path.child("endPort");
  if (typeof number === "number") {
    problems.invalidAll(path.child("port"), number, portErrors(number));
    if (end === undefined) return;
    if (end < number) problems.invalid(place, number, "must be greater than or equal to `port`");
    problems.invalidAll(place, end, portErrors(end));
    return;
  }
  const when = number === null ? "`port` is not specified" : "`port` is non-numeric";
  if (end !== undefined) problems.invalid(place, end, `may not be specified when ${when}`);
  if (typeof number === "string") problems.invalidAll(path.child("port"), number, portNameErrors(number));
}

function checkPeer(
  peer: JsonObject,
  known: readonly string[],
  allowsInvalidValues: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  const selectors = ["podSelector", "namespaceSelector"].filter((key) => has(peer, key));
  for (const key of selectors) checkSelector(findObject(peer, key), path.child(key), problems, allowsInvalidValues);
  const block = findObject(peer, "ipBlock");
  if (block !== undefined) checkBlock(block, known, path.child("ipBlock"), problems);
  if (block === undefined && selectors.length === 0) problems.required(path, "must specify a peer");
  else if (block !== undefined && selectors.length > 0) {
    problems.forbidden(path, "may not specify both ipBlock and another peer");
  }
}

function checkBlock(block: JsonObject, known: readonly string[], path: FieldPath, problems: Problems): void {
  const cidr = textAt(block, "cidr");
  if (cidr === "") return problems.required(path.child("cidr"));
  problems.invalidAll(path.child("cidr"), cidr, cidrErrors(cidr, known));
  const whole = parseCidr(cidr);
  if (whole === undefined) return;
  textsAt(block, "except").forEach((text, index) => {
    const place = path.child("except").index(index);
    problems.invalidAll(place, text, cidrErrors(text, known));
    const part = parseCidr(text);
    if (part === undefined) return;
    const isWithin = part.address.family === whole.address.family && part.bits > whole.bits &&
      networkOf({ address: part.address, bits: whole.bits }) === networkOf(whole);
    if (!isWithin) problems.invalid(place, text, "must be a strict subset of `cidr`");
  });
}

/** The defaults of NetworkPolicies. */
export const networkPolicyDefaults: DefaultsByType = {
  "networking/v1.NetworkPolicyPort": (draft) => setIfAbsent(draft, "protocol", "TCP"),
  "networking/v1.NetworkPolicy": setNetworkPolicyDefaults,
};

function setNetworkPolicyDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  if (valuesAt(spec, "policyTypes").length > 0) return;
  spec["policyTypes"] = valuesAt(spec, "egress").length === 0 ? ["Ingress"] : ["Ingress", "Egress"];
}

/** The cells of a NetworkPolicy. */
export const networkPolicyRow: Row = rowOf(nameCell, selectorCell("spec.podSelector"), ageCell);
