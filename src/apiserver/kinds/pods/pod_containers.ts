/**
 * The containers of a Pod taken together: walking through all of them, the sum of their resources, and the QoS class.
 */
import type { JsonObject } from "../../model/mod.ts";
import { addAmounts, type Amounts, type FieldPath } from "../rules/mod.ts";
import { compareQuantities, findObject, objectAt, objectsAt, textAt, textMapAt } from "../types/mod.ts";

/** All containers of a spec with their paths: init containers, containers, ephemeral containers. */
export function containersOf(
  spec: JsonObject,
  path: FieldPath,
): readonly { readonly container: JsonObject; readonly path: FieldPath }[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((key) =>
    objectsAt(spec, key).map((container, index) => ({ container, path: path.child(key).index(index) }))
  );
}

/** True for a restartable init container (a sidecar). */
export function isSidecar(container: JsonObject): boolean {
  return textAt(container, "restartPolicy") === "Always";
}

/** The resources that a Pod needs: the sum of its containers, or the largest need of an init container. */
export function aggregateResources(spec: JsonObject, key: "limits" | "requests"): Amounts {
  const amountsOf = (container: JsonObject) => textMapAt(objectAt(container, "resources"), key);
  let sum: Amounts = objectsAt(spec, "containers").map(amountsOf).reduce(addAmounts, new Map());
  let sidecars: Amounts = new Map();
  let before: Amounts = new Map();
  for (const container of objectsAt(spec, "initContainers")) {
    const amounts = amountsOf(container);
    const needed = addAmounts(amounts, sidecars);
    if (isSidecar(container)) [sum, sidecars] = [addAmounts(sum, amounts), needed];
    before = largerOf(before, needed);
  }
  return largerOf(sum, before);
}

function largerOf(left: Amounts, right: Amounts): Amounts {
  const result = new Map(left);
  for (const [name, amount] of right) {
    const other = left.get(name);
    if (other === undefined || compareQuantities(amount, other) > 0) result.set(name, amount);
  }
  return result;
}

const computes = ["cpu", "memory"];

/** The QoS class of a Pod: `Guaranteed`, `Burstable` or `BestEffort`. */
export function qosClassOf(spec: JsonObject): string {
  const whole = findObject(spec, "resources");
  const holders = whole !== undefined
    ? [whole]
    : [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")].map((each) =>
      objectAt(each, "resources")
    );
  const requests = holders.map((each) => computeAmounts(each, "requests")).reduce(addAmounts, new Map());
  const limits = holders.map((each) => computeAmounts(each, "limits")).reduce(addAmounts, new Map());
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const isLimited = holders.every((each) => computeAmounts(each, "limits").size === computes.length);
  const isSame = requests.size === limits.size &&
    [...requests].every(([name, amount]) => compareQuantities(limits.get(name) ?? "-1", amount) === 0);
  return isLimited && isSame ? "Guaranteed" : "Burstable";
}

function computeAmounts(resources: JsonObject, key: "limits" | "requests"): Amounts {
  const amounts = [...textMapAt(resources, key)];
  return new Map(amounts.filter(([name, amount]) => computes.includes(name) && compareQuantities(amount, "0") > 0));
}
