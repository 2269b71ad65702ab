import { assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { RecordingLogger } from "../testing/cluster_access.ts";
import { loadStoredAccess } from "./stored_kubeconfig.ts";

/** A kubeconfig of one cluster. */
function kubeconfig(user: object, cluster: object = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "east", cluster: { server: "https://east.example.dev:6443", ...cluster } }],
    users: [{ name: "operator", user }],
    contexts: [{ name: "east", context: { cluster: "east", user: "operator" } }],
    "current-context": "east",
  });
}

const load = (text: string) => loadStoredAccess(text, { origin: "Secret fleet/east", environment: {} });

test("a stored kubeconfig with data is used", async () => {
  const access = await load(kubeconfig({ token: "member-token-4711" }));
  assertEquals([access.server, access.credentials.kind], ["https://east.example.dev:6443", "token"]);
});

test("[security] a stored kubeconfig can neither run a program nor name a file of this machine", async () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", interactiveMode: "Never" };
  const users = {
    tokenFile: { tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" },
    "client-certificate": { "client-certificate": "/a.crt", "client-key-data": "x" },
    "client-key": { "client-key": "/a.key" },
    exec: { exec },
    "auth-provider": { "auth-provider": { name: "oidc", config: {} } },
  };
  for (const [field, user] of Object.entries(users)) {
    const error = await assertRejects(() => load(kubeconfig(user)), /Secret fleet\/east/);
    assertMatch(error.message, new RegExp(`user "operator" has the field ${field}`));
  }
  await assertRejects(() => load(kubeconfig({}, { "certificate-authority": "/etc/passwd" })), /certificate-authority/);
  await assertRejects(() => load(kubeconfig({}, { server: "http://127.0.0.1:8080" })), /not reached by https/);
});

test("[security 2] a stored kubeconfig that skips verification is warned about, and an environment that does is refused", async () => {
  const logger = new RecordingLogger();
  const text = kubeconfig({ token: "member-token-4711" }, { "insecure-skip-tls-verify": true });
  const origin = "Secret fleet/east";
  const access = await loadStoredAccess(text, { origin, environment: {}, logger });
  assertEquals([access.insecureSkipTlsVerify, logger.warnings.length], [true, 1]);
  const environment = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  await assertRejects(
    () => loadStoredAccess(kubeconfig({}), { origin, environment }),
    /NODE_TLS_REJECT_UNAUTHORIZED=0/,
  );
});

test("a broken text is refused with its origin, and without its content", async () => {
  for (const text of ["", "{", "a: [", "apiVersion: v2", "token: hunter2: x"]) {
    const error = await assertRejects(() => load(text));
    assertEquals([/hunter2/.test(error.message), error.name], [false, "KubeconfigError"]);
  }
});
