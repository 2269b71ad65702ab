import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtinFamilies } from "../kinds/mod.ts";
import { type AdmissionRequest, type Attributes, draftOf, type JsonObject, StatusError } from "../model/mod.ts";
import { claimStatusCheck } from "./claim_status_check.ts";

const kind = builtinFamilies().find(({ collection }) => collection === "resourceclaims.resource.k8s.io")?.storage;
const device = { driver: "gpu.example.com", pool: "n1", device: "d" };
const nodeSelector = {
  nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }],
};
const allocation: JsonObject = { devices: { results: [{ request: "gpu", ...device }] }, nodeSelector };

/** What the check asks for a change of the devices in the status, and its message, when nothing is allowed. */
function asked(nodeName: string, status: JsonObject, old: JsonObject, allowed: readonly string[] = []) {
  if (kind === undefined) throw new Error("Cannot find ResourceClaims");
  const questions: string[] = [];
  const authorize = ({ verb, subresource, namespace, name }: Attributes) => {
    questions.push([verb, subresource, namespace, name].join(" "));
    return { isAllowed: allowed.includes(verb), reason: "" };
  };
  const request: AdmissionRequest = {
    operation: "UPDATE",
    kind,
    subresource: "status",
    namespace: "default",
    name: "a",
    object: draftOf({ status }),
    oldObject: { status: old },
    options: {},
    user: {
      name: "system:serviceaccount:default:driver",
      uid: "",
      groups: [],
      extra: new Map([["authentication.kubernetes.io/node-name", [nodeName]]]),
    },
    isDryRun: false,
    warn: () => {},
  };
  try {
    claimStatusCheck({ authorize }).admit?.(request);
    return { questions, message: "" };
  } catch (error) {
    return { questions, message: error instanceof StatusError ? error.message : String(error) };
  }
}

test("a driver on the Node of a claim may report devices by either of two verbs, one elsewhere by one", () => {
  const [status, old] = [{ allocation, devices: [device] }, { allocation }];
  const here = asked("n1", status, old);
  assertEquals(here.questions, [
    "associated-node:update driver default gpu.example.com",
    "arbitrary-node:update driver default gpu.example.com",
  ]);
  assertMatch(
    here.message,
    /verb="\[associated-node:update arbitrary-node:update\]" permission: .* cannot associated-/,
  );
  assertEquals(asked("n1", status, old, ["arbitrary-node:update"]).message, "");
  const elsewhere = asked("n2", status, old);
  assertEquals(elsewhere.questions, ["arbitrary-node:update driver default gpu.example.com"]);
});

test("a status without changes, or whose devices end with their allocation, needs no more permissions", () => {
  const status = { allocation, devices: [device] };
  assertEquals(asked("n1", status, status).questions, []);
  assertEquals(asked("n1", {}, status, ["update"]), { questions: ["update binding  "], message: "" });
});
