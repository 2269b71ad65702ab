import { assertEquals, test } from "../../../tests/testing.ts";
import { type Level, policyOf, violationsOf } from "./pod_security.ts";

/** The violation of a Pod with this spec; "" when it is allowed. */
function found(level: Level, spec: object, container: object = {}, annotations: object = {}): string {
  const pod = { metadata: { annotations }, spec: { containers: [{ name: "a", ...container }], ...spec } };
  const text = violationsOf(JSON.parse(JSON.stringify(pod)), { level, version: "latest" });
  return text?.replace(/^PodSecurity "[a-z]+:latest": /, "") ?? "";
}

const safe = { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } };
const safePod = { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } };

const baseline: readonly (readonly [spec: object, container: object, text: string])[] = [
  [{}, {}, ""],
  [{ hostIPC: true }, {}, "host namespaces (hostIPC=true)"],
  [
    {},
    { securityContext: { privileged: true } },
    'privileged (container "a" must not set securityContext.privileged=true)',
  ],
  [{ volumes: [{ name: "v", hostPath: {} }] }, {}, 'hostPath volumes (volume "v")'],
  [{}, { ports: [{ hostPort: 80 }] }, 'hostPort (container "a" uses hostPort 80)'],
  [
    {},
    { lifecycle: { preStop: { httpGet: { host: "x" } } } },
    'probe or lifecycle host (container "a" uses probe or lifecycle host "x")',
  ],
  [
    {},
    { securityContext: { capabilities: { add: ["NET_RAW", "CHOWN"] } } },
    'non-default capabilities (container "a" must not include "NET_RAW" in securityContext.capabilities.add)',
  ],
  [
    { securityContext: { windowsOptions: { hostProcess: true } } },
    {},
    "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
  ],
  [{ securityContext: { sysctls: [{ name: "kernel.x" }] } }, {}, "forbidden sysctls (kernel.x)"],
  [{ securityContext: { sysctls: [{ name: "net.ipv4.tcp_rmem" }] } }, {}, ""],
  [
    { securityContext: { seLinuxOptions: { role: "r" } } },
    {},
    "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: role may not be set)",
  ],
];

test("the level baseline rejects privilege escalations", () => {
  for (const [spec, container, text] of baseline) assertEquals(found("baseline", spec, container), text);
});

test("invalid AppArmor profiles are found in the Pod, in containers and in annotations", () => {
  const unconfined = { securityContext: { appArmorProfile: { type: "Unconfined" } } };
  const annotations = { "container.apparmor.security.beta.kubernetes.io/a": "unconfined" };
  assertEquals(
    found("baseline", unconfined, unconfined, annotations),
    'forbidden AppArmor profiles (pod and container "a" and annotation must not set AppArmor profile type to ' +
      '"Unconfined", "container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
  );
});

test("the level restricted requires every container to drop privileges", () => {
  assertEquals(
    found("restricted", {}),
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or ' +
      '"Localhost")',
  );
  assertEquals(found("restricted", safePod, safe), "");
  const root = { securityContext: { ...safePod.securityContext, runAsUser: 0 } };
  assertEquals(found("restricted", root, safe), "runAsUser=0 (pod must not set runAsUser=0)");
  assertEquals(found("restricted", { ...root, hostUsers: false }, safe), "");
  const volumes = [{ name: "v", nfs: {} }, { name: "w", emptyDir: {} }];
  assertEquals(
    found("restricted", { ...safePod, volumes }, safe),
    'restricted volume types (volume "v" uses restricted volume type "nfs")',
  );
});

test("the level restricted ignores Linux settings of Windows Pods, and the level privileged has no checks", () => {
  assertEquals(found("restricted", { securityContext: { runAsNonRoot: true }, os: { name: "windows" } }), "");
  assertEquals(found("privileged", { hostNetwork: true }), "");
});

test("the labels of a namespace set the levels for rejections and warnings", () => {
  const read = (labels: Readonly<Record<string, string>>) => {
    const named = Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value] as const);
    const { enforce, warn, errors } = policyOf(new Map(named));
    return [`${enforce.level}:${enforce.version}`, `${warn.level}:${warn.version}`, errors.length];
  };
  assertEquals(read({}), ["privileged:latest", "privileged:latest", 0]);
  assertEquals(read({ enforce: "baseline", "enforce-version": "v1.30" }), ["baseline:v1.30", "baseline:v1.30", 0]);
  assertEquals(read({ enforce: "baseline", warn: "restricted" }), ["baseline:latest", "restricted:latest", 0]);
  assertEquals(read({ enforce: "restricted", warn: "privileged" }), ["restricted:latest", "privileged:latest", 0]);
  assertEquals(read({ enforce: "strict", audit: "x", "warn-version": "2" }), [
    "restricted:latest",
    "privileged:latest",
    3,
  ]);
});
