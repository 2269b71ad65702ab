/** Exec plugins, with scripts of /bin/sh in their place. */
import { VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { accessTo, pluginOf } from "./_access_test_data.ts";
import type { Renewal } from "./_credential_source.ts";
import { Folder } from "./_folder_test_data.ts";
import type { ExecPlugin } from "./cluster_access.ts";
import { CredentialsError } from "./credentials_error.ts";
import { runExecPlugin, type RunExecPluginOptions } from "./exec_credential.ts";
import { Masked } from "./masked.ts";

const never = new AbortController().signal;

function credential(status: object, apiVersion = "client.authentication.k8s.io/v1"): string {
  return JSON.stringify({ apiVersion, kind: "ExecCredential", status });
}

/** Runs a plugin whose script is `script`. */
async function run(
  script: string,
  fields: Partial<ExecPlugin> = {},
  options: Partial<RunExecPluginOptions> = {},
): Promise<Renewal> {
  await using folder = await Folder.with({ "bin/plugin": `#!/bin/sh\n${script}\n` });
  const plugin = pluginOf("plugin", { directory: folder.path, ...fields });
  const access = accessTo("https://c:1", { credentials: { kind: "exec", plugin }, serverName: "k" });
  return await runExecPlugin(access, plugin, {
    clock: new VirtualClock(),
    environment: { PATH: `/nowhere:${folder.path}/bin:/usr/bin:/bin`, HOME: "/home/jane", SECRET_OF_OURS: "s3cret" },
    execPolicy: { kind: "allowAll" },
    signal: never,
    ...options,
  });
}

async function complaint(
  script: string,
  fields: Partial<ExecPlugin> = {},
  options: Partial<RunExecPluginOptions> = {},
) {
  const error = await assertRejects(() => run(script, fields, options));
  assert(error instanceof CredentialsError, `${error.name}: ${error.message}`);
  return error.message;
}

test("[77] a plugin's token becomes the Authorization header until it expires", async () => {
  const clock = new VirtualClock();
  const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
  const renewal = await run(`echo '${credential({ token: "abc", expirationTimestamp })}'`, {}, { clock });
  assertEquals([renewal.authorization?.reveal(), renewal.goodUntil], ["Bearer abc", clock.monotonic() + 60_000]);
  const forever = await run(`echo '${credential({ token: "abc" })}'`);
  assertEquals(forever.goodUntil, undefined);
});

test("[77] a plugin may give a client certificate", async () => {
  const renewal = await run(`echo '${credential({ clientCertificateData: "CERT", clientKeyData: "KEY" })}'`);
  assertEquals([renewal.certificate?.cert, renewal.certificate?.key.reveal()], ["CERT", "KEY"]);
  assertEquals(renewal.authorization, undefined);
});

test("[security 4] a plugin gets its arguments without a shell, a minimal environment and what is configured", async () => {
  const args = ["a b", "$HOME", "; echo"];
  const env = [{ name: "EXTRA", value: new Masked("yes") }];
  const script = `[ "$*" = 'a b $HOME ; echo' ] && [ "$HOME" = /home/jane ] && [ "$EXTRA" = yes ] \\
    && [ -z "$SECRET_OF_OURS" ] && echo '${credential({ token: "ok" })}'`;
  assertEquals((await run(script, { args, env })).authorization?.reveal(), "Bearer ok");
});

test("a plugin is told of the cluster when it wants to be", async () => {
  const script =
    `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' \\
    "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 | tr -d '\\n')"`;
  const told = async (fields: Partial<ExecPlugin>) => {
    const header = (await run(script, fields)).authorization?.reveal() ?? "";
    return JSON.parse(atob(header.replace("Bearer ", "")));
  };
  const apiVersion = "client.authentication.k8s.io/v1";
  assertEquals(await told({}), { apiVersion, kind: "ExecCredential", spec: { interactive: false } });
  assertEquals(await told({ provideClusterInfo: true, clusterConfig: { audience: "x" } }), {
    apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, cluster: { server: "https://c:1", "tls-server-name": "k", config: { audience: "x" } } },
  });
});

test("[77] a plugin that fails says so in one printable line, without what it printed on standard output", async () => {
  const message = await complaint(`echo t0ken; printf 'no \\033[31mlogin\\033[0m\\r\\nsorry\\007' >&2; exit 3`);
  assertEquals(message, 'Cannot get credentials from "plugin": it ended with code 3: no login sorry');
  assertMatch(await complaint("kill -9 $$"), /it was ended by SIGKILL$/);
  assertMatch(await complaint("exec sleep 1000", {}, { timeoutMs: 50 }), /it did not end within 50 ms$/);
  assertMatch(await complaint("while :; do echo 0123456789012345678901234567890123456789; done"), /more than 1 MiB$/);
});

test("[77] what a plugin prints must be a credential of the version that is configured", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["t0ken", /it did not print an ExecCredential with a status$/],
    [JSON.stringify({ apiVersion: "x", kind: "Pod", status: { token: "t0ken" } }), /did not print an ExecCredential/],
    [credential({ token: "t0ken" }, "client.authentication.k8s.io/v1beta1"), /v1beta1, the kubeconfig says .*\/v1$/],
    [credential({}), /neither a token nor a certificate$/],
    [credential({ clientKeyData: "t0ken" }), /a certificate without its key, or a key alone$/],
    [credential({ token: "t0ken", expirationTimestamp: "soon" }), /its expirationTimestamp is no time$/],
    [
      credential({ token: "t0ken\\r\\nX-Evil: 1" }),
      /^Cannot use token: it is empty or has characters that no token has$/,
    ],
    ["[".repeat(20_000), /did not print an ExecCredential/],
  ];
  for (const [printed, pattern] of cases) {
    const message = await complaint(`cat <<'END'\n${printed}\nEND`);
    assertMatch(message, pattern);
    assert(!message.includes("t0ken"));
  }
});

test("a plugin that is not installed is named, with its hint", async () => {
  const fields = { command: "missing-plugin", installHint: "get it from\u001b[1m example.com" };
  assertEquals(
    await complaint("", fields),
    'Cannot get credentials from "missing-plugin": it is not installed; get it from example.com',
  );
  assertMatch(await complaint("", { command: "./also/missing" }), /it is not installed$/);
});

test("[security 4] a policy forbids plugins, or allows those it names", async () => {
  const script = `echo '${credential({ token: "ok" })}'`;
  assertMatch(await complaint(script, {}, { execPolicy: { kind: "denyAll" } }), /the policy allows none$/);
  const other = { kind: "allowlist", commands: ["other", "/usr/bin/plugin"] } as const;
  assertMatch(await complaint(script, {}, { execPolicy: other }), /the policy does not name it$/);
  const named = { kind: "allowlist", commands: ["plugin"] } as const;
  assertEquals((await run(script, {}, { execPolicy: named })).authorization?.reveal(), "Bearer ok");
});

test("a plugin that must ask is refused where nobody can answer", async () => {
  assertMatch(
    await complaint("", { interactiveMode: "Always" }, { hasTerminal: false }),
    /standard input is no terminal$/,
  );
});
