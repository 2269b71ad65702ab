/** Tests of exec plugins, with scripts of /bin/sh. */
import { VirtualClock } from "../../async/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { CredentialsError, type ExecPlugin, Masked } from "../kubeconfig/mod.ts";
import { accessTo, execPlugin } from "../testing/cluster_access.ts";
import { TemporaryFolder } from "../testing/temporary_folder.ts";
import type { ExpiringCredential } from "./credential.ts";
import { runExecPlugin, type RunExecPluginOptions } from "./exec_plugin.ts";

const never = new AbortController().signal;

function credential(status: object, apiVersion = "client.authentication.k8s.io/v1"): string {
  return JSON.stringify({ apiVersion, kind: "ExecCredential", status });
}

/** The script of a plugin that prints a credential of several lines. */
function printed(status: object): string {
  return `cat <<'END'\n${credential(status)}\nEND`;
}

/** Runs `script` as a plugin. */
async function run(
  script: string,
  fields: Partial<ExecPlugin> = {},
  options: Partial<RunExecPluginOptions> = {},
): Promise<ExpiringCredential> {
  await using folder = await TemporaryFolder.with({ "bin/plugin": `#!/bin/sh\n${script}\n` });
  const plugin = execPlugin("plugin", { directory: folder.path, ...fields });
  const access = accessTo("https://c:1", { credentials: { kind: "exec", plugin }, serverName: "k" });
  return await runExecPlugin(access, plugin, {
    clock: new VirtualClock(),
    environment: { PATH: `/nowhere:${folder.path}/bin:/usr/bin:/bin`, HOME: "/home/jane", SECRET_OF_OURS: "s3cret" },
    execPolicy: { kind: "allowAll" },
    signal: never,
    ...options,
  });
}

/** The message of the error of a plugin that fails. */
async function errorMessage(
  script: string,
  fields: Partial<ExecPlugin> = {},
  options: Partial<RunExecPluginOptions> = {},
) {
  const error = await assertRejects(() => run(script, fields, options));
  assert(error instanceof CredentialsError, `${error.name}: ${error.message}`);
  return error.message;
}

test("[77] the token of a plugin is the Authorization header until it expires", async () => {
  const clock = new VirtualClock();
  const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
  const renewed = await run(`echo '${credential({ token: "abc", expirationTimestamp })}'`, {}, { clock });
  assertEquals([renewed.authorization?.reveal(), renewed.validUntil], ["Bearer abc", clock.monotonic() + 60_000]);
  const forever = await run(`echo '${credential({ token: "abc" })}'`);
  assertEquals(forever.validUntil, undefined);
});

test("[77] a plugin may print a client certificate", async () => {
  const ca = await CertificateAuthority.create("ca");
  const { certificate, key } = await ca.issue({ commonName: "jane" });
  const renewed = await run(printed({ clientCertificateData: certificate, clientKeyData: key }));
  assertEquals([renewed.certificate?.cert, renewed.certificate?.key.reveal()], [certificate, key]);
  assertEquals(renewed.authorization, undefined);
  for (const clientKeyData of ["t0ken", (await ca.issue({ commonName: "joe" })).key]) {
    assertEquals(
      await errorMessage(printed({ clientCertificateData: certificate, clientKeyData })),
      'Cannot get credentials from "plugin": its certificate and its key are not a pair',
    );
  }
});

test("[security 4] a plugin gets its arguments without a shell, a minimal environment and the configured variables", async () => {
  const args = ["a b", "$HOME", "; echo"];
  const env = [{ name: "EXTRA", value: new Masked("yes") }];
  const script = `[ "$*" = 'a b $HOME ; echo' ] && [ "$HOME" = /home/jane ] && [ "$EXTRA" = yes ] \\
    && [ -z "$SECRET_OF_OURS" ] && echo '${credential({ token: "ok" })}'`;
  assertEquals((await run(script, { args, env })).authorization?.reveal(), "Bearer ok");
});

test("a plugin gets information about the cluster if it is configured", async () => {
  const script =
    `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' \\
    "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 | tr -d '\\n')"`;
  const receivedInfo = async (fields: Partial<ExecPlugin>) => {
    const header = (await run(script, fields)).authorization?.reveal() ?? "";
    return JSON.parse(atob(header.replace("Bearer ", "")));
  };
  const apiVersion = "client.authentication.k8s.io/v1";
  assertEquals(await receivedInfo({}), { apiVersion, kind: "ExecCredential", spec: { interactive: false } });
  assertEquals(await receivedInfo({ provideClusterInfo: true, clusterConfig: { audience: "x" } }), {
    apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, cluster: { server: "https://c:1", "tls-server-name": "k", config: { audience: "x" } } },
  });
});

test("[77] the error of a failed plugin is one printable line, without its standard output", async () => {
  const message = await errorMessage(`echo t0ken; printf 'no \\033[31mlogin\\033[0m\\r\\nsorry\\007' >&2; exit 3`);
  assertEquals(message, 'Cannot get credentials from "plugin": it ended with code 3: no login sorry');
  assertMatch(await errorMessage("kill -9 $$"), /it was ended by SIGKILL$/);
  assertMatch(await errorMessage("exec sleep 1000", {}, { timeoutMs: 50 }), /it did not end within 50 ms$/);
  assertMatch(
    await errorMessage("while :; do echo 0123456789012345678901234567890123456789; done"),
    /its output is larger than 1 MiB$/,
  );
});

test("[77] the output of a plugin must be a credential of the configured version", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["t0ken", /its output is not an ExecCredential with a status$/],
    [JSON.stringify({ apiVersion: "x", kind: "Pod", status: { token: "t0ken" } }), /is not an ExecCredential/],
    [credential({ token: "t0ken" }, "client.authentication.k8s.io/v1beta1"), /v1beta1, but the kubeconfig has .*\/v1$/],
    [credential({}), /neither a token nor a certificate$/],
    [credential({ clientKeyData: "t0ken" }), /a certificate without its key, or a key without its certificate$/],
    [credential({ token: "t0ken", expirationTimestamp: "soon" }), /its expirationTimestamp is not a time$/],
    [
      credential({ token: "t0ken\\r\\nX-Evil: 1" }),
      /^Cannot use the token of the user: it is empty or has characters that no token has$/,
    ],
    ["[".repeat(20_000), /is not an ExecCredential/],
  ];
  for (const [printed, pattern] of cases) {
    const message = await errorMessage(`cat <<'END'\n${printed}\nEND`);
    assertMatch(message, pattern);
    assert(!message.includes("t0ken"));
  }
});

test("the error of a plugin that is not installed contains its hint", async () => {
  const fields = { command: "missing-plugin", installHint: "get it from\u001b[1m example.com" };
  assertEquals(
    await errorMessage("", fields),
    'Cannot get credentials from "missing-plugin": it is not installed; get it from example.com',
  );
  assertMatch(await errorMessage("", { command: "./also/missing" }), /it is not installed$/);
});

test("[security 4] a policy forbids all plugins, or allows only some", async () => {
  const script = `echo '${credential({ token: "ok" })}'`;
  assertMatch(await errorMessage(script, {}, { execPolicy: { kind: "denyAll" } }), /the policy allows none$/);
  const other = { kind: "allowlist", commands: ["other", "/usr/bin/plugin"] } as const;
  assertMatch(await errorMessage(script, {}, { execPolicy: other }), /the policy does not name it$/);
  const named = { kind: "allowlist", commands: ["plugin"] } as const;
  assertEquals((await run(script, {}, { execPolicy: named })).authorization?.reveal(), "Bearer ok");
});

test("an interactive plugin is not run without a terminal", async () => {
  assertMatch(
    await errorMessage("", { interactiveMode: "Always" }, { hasTerminal: false }),
    /standard input is not a terminal$/,
  );
});
