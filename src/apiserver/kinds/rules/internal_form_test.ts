import { assertEquals, assertStringIncludes, test } from "../../../../tests/testing.ts";
import { isJsonObject } from "../../model/mod.ts";
import { asInternal, internalDiff } from "./internal_form.ts";

test("the server's own Pod has every field, under Go's names", () => {
  const spec = asInternal("PodSpec", { containers: [{ name: "a", livenessProbe: { exec: { command: ["b"] } } }] });
  const keys = isJsonObject(spec) ? Object.keys(spec) : [];
  assertEquals(keys.slice(0, 5), ["Volumes", "InitContainers", "Containers", "EphemeralContainers", "RestartPolicy"]);
  const text = JSON.stringify(spec);
  assertStringIncludes(text, '"LivenessProbe":{"Exec":{"Command":["b"]},"HTTPGet":null,');
  assertStringIncludes(text, '"NodeName":"","SecurityContext":{"HostNetwork":false,');
});

test("what a Pod shares of its node stands in its security context there", () => {
  const spec = asInternal("PodSpec", { hostNetwork: true, hostPID: true, securityContext: { runAsUser: 7 } });
  assertStringIncludes(JSON.stringify(spec), '"HostNetwork":true,"HostPID":true,"HostIPC":false');
  assertStringIncludes(JSON.stringify(spec), '"RunAsUser":7');
});

test("the name of a volume and its source are fields of one object", () => {
  const text = JSON.stringify(asInternal("PodSpec", { volumes: [{ name: "a", emptyDir: { sizeLimit: "1Gi" } }] }));
  assertStringIncludes(text, '"Volumes":[{"Name":"a","HostPath":null,"EmptyDir":{"Medium":"","SizeLimit":"1Gi"}');
});

test("keys of people are kept as they are, in order", () => {
  const nodeSelector = JSON.parse('{"b":"1","__proto__":"2","NodeName":"3"}');
  const text = JSON.stringify(asInternal("PodSpec", { nodeSelector }));
  assertStringIncludes(text, '"NodeSelector":{"NodeName":"3","__proto__":"2","b":"1"}');
});

test("the same shows no difference", () => {
  assertEquals(internalDiff("PodSpec", { hostname: "a" }, { hostname: "a" }), "");
});
