/** kubectl exec and cp on the simulated Pods of `controller dev`, with the compiled binary. */
import process from "node:process";
import { assertEquals, assertMatch } from "../testing.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { runBinary } from "./_binary.ts";

const path = process.env["PATH"] ?? "";

async function onDev(...script: readonly string[]) {
  const pod = [
    "kubectl create configmap conf --from-literal=color=red",
    `kubectl apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  containers: [{ name: main, image: example.invalid/main, volumeMounts: [{ name: conf, mountPath: /conf }] }]
  volumes: [{ name: conf, configMap: { name: conf } }]
END`,
    "kubectl wait --for=condition=Ready pod/web --timeout=300s",
  ];
  const text = [...pod, ...script].join("\n");
  return await runBinary(["dev", "-q", "--", "sh", "-ec", text], { env: { PATH: path } });
}

controlPlaneTest("kubectl exec runs commands in a simulated Pod, and ends with their exit code", async () => {
  const { code, stdout } = await onDev(
    "kubectl exec web -- cat /conf/color; echo",
    "echo 'echo from stdin $HOSTNAME' | kubectl exec -i web -- sh",
    "kubectl exec web -- sh -c 'echo out && exit 7'",
  );
  assertEquals(code, 7);
  assertMatch(stdout, /red\nfrom stdin web\nout\n$/);
});

controlPlaneTest("kubectl cp on a simulated Pod ends with a message that says why", async () => {
  const cp = await onDev("kubectl cp web:/conf/color /dev/null");
  assertEquals(cp.code, 1);
  assertMatch(cp.stderr, /exec: "tar": executable file not found in \$PATH \(a simulated container has:/);
});
