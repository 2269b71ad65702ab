/** run --config with the compiled binary: SIGHUP, a replaced file, and what they change in a cluster. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ingress, Service } from "../../src/kinds.ts";
import { EmbeddedCluster } from "../../src/testing.ts";
import { until } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";

class Folder implements Disposable {
  readonly path = mkdtempSync("/tmp/pintle-config-");
  readonly kubeconfig = join(this.path, "kubeconfig");
  readonly config = join(this.path, "controller.yaml");

  /** Replaces the file in one step, as an editor and a ConfigMap volume do. */
  configure(text: string): void {
    writeFileSync(`${this.config}.new`, text);
    renameSync(`${this.config}.new`, this.config);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

test("run --config takes over a new list of hosts after SIGHUP, keeps it when the file is wrong, and ends with SIGTERM", async () => {
  using folder = new Folder();
  await using cluster = await EmbeddedCluster.start({ workloads: false, onError: console.error });
  writeFileSync(folder.kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const { client } = cluster;
  for (const name of ["a", "b"]) {
    const metadata = { namespace: "default", name, annotations: { "ingress/http": `${name}.example.com` } };
    await client.create(Service, { metadata, spec: { ports: [{ port: 80 }] } });
  }
  const ingresses = async () =>
    (await client.list(Ingress, { namespace: "default" })).items.map((one) => one.metadata.name);
  const seesIngresses = async (names: readonly string[]) =>
    await until(`see the Ingresses ${names}`, async () => {
      const found = await ingresses();
      const isSame = JSON.stringify(found) === JSON.stringify(names);
      return isSame ? { kind: "found", value: undefined } : { kind: "pending", state: `there were ${found}` };
    });

  folder.configure("allowedHosts:\n- a.example.com\n");
  const { kubeconfig, config } = folder;
  await using running = new Binary(["run", "ingress", "--config", config], { kubeconfig });
  await running.logged(/starting workers/);
  await seesIngresses(["a"]);

  folder.configure("allowedHosts:\n- b.example.com\nverbose: 1\n");
  running.signal("SIGHUP");
  await running.logged(/reloaded the configuration .*settings="verbose,allowedHosts"/);
  await seesIngresses(["b"]);

  folder.configure("allowedHosts:\n- b.example.com\n- B_B\n");
  running.signal("SIGHUP");
  await running.logged(/cannot reload the configuration, keeping the old values .*controller\.yaml:3 allowedHosts/);
  assert(running.isRunning);
  assertEquals(await ingresses(), ["b"]);
  running.signal("SIGTERM");
  assertEquals((await running.ended()).code, 0);
});

test("config checks a file as run does, without a cluster", async () => {
  using folder = new Folder();
  folder.configure("workers: 4\nallowedHost: [a.example.com]\n");
  const wrong = await runBinary(["config", "--config", folder.config]);
  assertEquals(wrong.code, 2);
  assertMatch(wrong.stderr, /controller\.yaml:2: no flag has the key "allowedHost"\. Did you mean: allowedHosts/);
  folder.configure("workers: 4\nallowedHosts: [a.example.com]\n");
  const { code, stdout } = await runBinary(["config", "--config", folder.config], { env: { CONTROLLER_WORKERS: "5" } });
  assertEquals(code, 0);
  assertMatch(stdout, /^workers +5 +- +CONTROLLER_WORKERS$/m);
  assertMatch(stdout, /^allowedHosts +a\.example\.com +yes +\S+controller\.yaml:2$/m);
});
