/** Credentials that change: token files, plugins, many waiters. */
import { VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { accessTo, pluginOf, RecordingLogger } from "./_access_test_data.ts";
import { type CredentialSource, credentialSource } from "./_credential_source.ts";
import { Folder } from "./_folder_test_data.ts";
import type { Credentials } from "./cluster_access.ts";
import { CredentialsError } from "./credentials_error.ts";
import { Masked } from "./masked.ts";

const never = new AbortController().signal;

interface Rig {
  readonly source: CredentialSource;
  readonly clock: VirtualClock;
  readonly logger: RecordingLogger;
  header(): Promise<string | undefined>;
}

function rig(credentials: Credentials): Rig {
  const clock = new VirtualClock();
  const logger = new RecordingLogger();
  const environment = { PATH: "/usr/bin:/bin" };
  const access = accessTo("https://c", { credentials });
  const source = credentialSource(access, { clock, logger, environment, execPolicy: { kind: "allowAll" } });
  const header = async () => (await source.current(never)).authorization?.reveal();
  return { source, clock, logger, header };
}

test("fixed credentials make their header, and stay the same object", async () => {
  assertEquals(await rig({ kind: "none" }).header(), undefined);
  assertEquals(await rig({ kind: "token", token: new Masked("abc") }).header(), "Bearer abc");
  assertEquals(await rig({ kind: "basic", username: "ü", password: new Masked("p:w") }).header(), "Basic w7w6cDp3");
  const { source } = rig({ kind: "none" });
  const first = await source.current(never);
  source.refuse(first);
  assertEquals(await source.current(never) === first, true);
});

test("[76] a token file is read anew every 60 s with 10 s to spare", async () => {
  await using folder = await Folder.with({ token: "one\n" });
  const { clock, header } = rig({ kind: "tokenFile", path: `${folder.path}/token` });
  assertEquals(await header(), "Bearer one");
  await folder.write("token", "two");
  await clock.advance(49_000);
  assertEquals(await header(), "Bearer one");
  await clock.advance(2_000);
  assertEquals(await header(), "Bearer two");
});

test("[76] a token file is read at once after a refusal, which nobody who has a newer token can cause", async () => {
  await using folder = await Folder.with({ token: "one" });
  const { source, header } = rig({ kind: "tokenFile", path: `${folder.path}/token` });
  const first = await source.current(never);
  await folder.write("token", "two");
  source.refuse(first);
  assertEquals(await header(), "Bearer two");
  await folder.write("token", "three");
  source.refuse(first);
  assertEquals(await header(), "Bearer two");
});

test("[76] a refused token whose file has not changed stays the same object: there is nothing new to try", async () => {
  await using folder = await Folder.with({ token: "one" });
  const { source } = rig({ kind: "tokenFile", path: `${folder.path}/token` });
  const first = await source.current(never);
  source.refuse(first);
  assertEquals(await source.current(never) === first, true);
});

test("[76] while its file cannot be read a token stays in use, and a warning says so", async () => {
  await using folder = await Folder.with({ token: "one" });
  const { source, clock, logger, header } = rig({ kind: "tokenFile", path: `${folder.path}/token` });
  const first = await source.current(never);
  await folder.write("token", "");
  await clock.advance(60_000);
  assertEquals(await header(), "Bearer one");
  assertEquals(logger.warnings, ["credentials could not be renewed, the old ones stay in use"]);
  source.refuse(first);
  assert(await assertRejects(header, /it is empty$/) instanceof CredentialsError);
});

/** A plugin that counts its runs in a file and waits for another file to go on. */
async function countingPlugin(): Promise<{ folder: Folder; credentials: Credentials; runs(): Promise<number> }> {
  const folder = await Folder.with({ "runs": "" });
  const expirationTimestamp = new Date(Date.UTC(2026, 0, 1) + 60_000).toISOString();
  const status = `{"token":"t%s","expirationTimestamp":"${expirationTimestamp}"}`;
  await folder.write(
    "plugin",
    `#!/bin/sh\ncd "$(dirname "$0")"\necho x >> runs\n` +
      `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}' $(wc -l < runs)\n`,
  );
  const { readFile } = await import("node:fs/promises");
  return {
    folder,
    credentials: { kind: "exec", plugin: pluginOf(`${folder.path}/plugin`) },
    runs: async () => (await readFile(`${folder.path}/runs`, "utf8")).length / 2,
  };
}

test("[77] a plugin runs once for all who wait, and not again before its credentials expire", async () => {
  const { folder, credentials, runs } = await countingPlugin();
  await using _ = folder;
  const { clock, header } = rig(credentials);
  const headers = await Promise.all(Array.from({ length: 50 }, header));
  assertEquals(new Set(headers), new Set(["Bearer t1"]));
  await clock.advance(59_000);
  assertEquals([await header(), await runs()], ["Bearer t1", 1]);
  await clock.advance(1_000);
  assertEquals([await header(), await runs()], ["Bearer t2", 2]);
});

test("[77] a refusal runs the plugin again, once for all who were refused", async () => {
  const { folder, credentials, runs } = await countingPlugin();
  await using _ = folder;
  const { source } = rig(credentials);
  const first = await source.current(never);
  const renewed = await Promise.all(Array.from({ length: 10 }, () => {
    source.refuse(first);
    return source.current(never);
  }));
  assertEquals(new Set(renewed.map((one) => one.authorization?.reveal())), new Set(["Bearer t2"]));
  assertEquals(await runs(), 2);
});

test("[77] who stops waiting leaves, and the plugin goes on for the others", async () => {
  const { folder, credentials, runs } = await countingPlugin();
  await using _ = folder;
  const { source, header } = rig(credentials);
  const impatient = new AbortController();
  const reason = new Error("tired");
  const left = source.current(impatient.signal);
  const patient = header();
  impatient.abort(reason);
  assertEquals(await assertRejects(() => left), reason);
  assertEquals([await patient, await runs()], ["Bearer t1", 1]);
});

test("an auth provider's token is used until it expires", async () => {
  const encode = (value: object) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  // client-node compares with the real clock, ours is virtual: far enough ahead for both.
  const token = `${encode({ alg: "none" })}.${encode({ exp: Date.UTC(2100, 0, 1) / 1000 })}.c2ln`;
  const config = new Masked(JSON.stringify({ "id-token": token }));
  assertEquals(await rig({ kind: "authProvider", name: "oidc", config }).header(), `Bearer ${token}`);
});

test("an auth provider without a usable token fails without showing what it had", async () => {
  const expired = new Masked(JSON.stringify({ "access-token": "s3cret", expiry: "2020-01-01T00:00:00Z" }));
  for (const name of ["gcp", "azure", "unknown"]) {
    const error = await assertRejects(rig({ kind: "authProvider", name, config: expired }).header);
    assert(error instanceof CredentialsError && !error.message.includes("s3cret"), error.message);
  }
});

test("[security 4] an auth provider that would run a program is subject to the policy", async () => {
  const config = new Masked(JSON.stringify({ "cmd-path": "/bin/true" }));
  const access = accessTo("https://c", { credentials: { kind: "authProvider", name: "gcp", config } });
  const options = { clock: new VirtualClock(), logger: new RecordingLogger(), environment: {} };
  const source = credentialSource(access, { ...options, execPolicy: { kind: "denyAll" } });
  await assertRejects(() => source.current(never), /the policy allows none$/);
});
