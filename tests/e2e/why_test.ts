/**
 * Incidents that `why` explains: the compiled binary on a real control plane, with what users do by hand. Times, durations and
 * names of the test are replaced, everything else is compared as a user sees it.
 */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";

/** A process with a debug endpoint, in a namespace of its own. */
class Incident implements AsyncDisposable {
  readonly namespace: TestNamespace;
  readonly #folder: string;
  readonly #binary: Binary;
  #address = "";

  private constructor(namespace: TestNamespace, folder: string, binary: Binary) {
    this.namespace = namespace;
    this.#folder = folder;
    this.#binary = binary;
  }

  static async start(
    namespace: TestNamespace,
    kubeconfig: string,
    args: readonly string[] = [],
  ): Promise<Incident> {
    const folder = await mkdtemp(join(tmpdir(), "pintle-why-"));
    const serving = ["--debug-bind-address", "127.0.0.1:0", "--debug-token-file", join(folder, "token")];
    const binary = new Binary(["run", "foo", "-n", namespace.name, ...serving, ...args], { kubeconfig });
    const incident = new Incident(namespace, folder, binary);
    await binary.logged(/starting workers/);
    incident.#address = `127.0.0.1:${/serving the debug endpoint.*port=(\d+)/.exec(binary.stderr)?.[1]}`;
    return incident;
  }

  get tokenFile(): string {
    return join(this.#folder, "token");
  }

  get address(): string {
    return this.#address;
  }

  /** What the process has logged. */
  get log(): string {
    return this.#binary.stderr;
  }

  /** The output of `why`, with times, durations and the namespace replaced. */
  async why(...args: readonly string[]): Promise<string> {
    const asked = ["why", ...args, "--address", this.#address, "--debug-token-file", this.tokenFile];
    const { code, stdout, stderr } = await runBinary(asked);
    assertEquals([code, stderr], [0, ""]);
    return this.#replaced(stdout);
  }

  /** Asks until the answer has what `pattern` finds. @returns the chain, or the line, with it */
  async explained(args: readonly string[], pattern: RegExp): Promise<string> {
    return await until(`see ${pattern} in why ${args.join(" ")}`, async () => {
      const answer = await this.why(...args);
      // A chain begins with its time, which is replaced.
      const found = answer.split(/\n(?! +→)/).find((part) => pattern.test(part));
      return found === undefined
        ? { kind: "pending", state: `${answer}\n${this.log}` }
        : { kind: "found", value: found };
    });
  }

  #replaced(text: string): string {
    return text.replaceAll(/\b\d\d:\d\d:\d\d\b/g, "TIME").replaceAll(/\b[\d.]+ (ms|s)\b/g, "SOME ms")
      .replaceAll(this.namespace.name, "shop").replaceAll(/failure \d+/g, "failure N")
      .replaceAll(/after \d+ failures?/g, "after N failures");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#binary.signal("SIGTERM");
    await this.#binary[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

const foo = { name: "foo-1", deploymentName: "web-7", replicas: 2 };

/** The Deployment as its controllers leave it: nothing changes any more. */
async function settled(namespace: TestNamespace): Promise<void> {
  await namespace.eventually("deployment/web-7", ({ spec }) => spec?.replicas === 2);
}

controlPlaneTest(
  "[130] why explains a hand edit: who changed what, and what the controller did",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await using incident = await Incident.start(namespace, controlPlane.kubeconfig);
    await namespace.applyFoo(foo);
    await settled(namespace);
    const patch = ["patch", "deployment/web-7", "--type=merge", "--field-manager=kubectl-edit"];
    await namespace.kubectl([...patch, '-p={"spec":{"replicas":5}}']);
    const chain = await incident.explained(
      ["deploy", `${namespace.name}/web-7`, "--limit", "50"],
      /kubectl-edit[^]*applied/,
    );
    assertEquals(
      chain,
      [
        "TIME  Deployment shop/web-7: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
        "      → Foo shop/foo-1 queued, waited SOME ms",
        "      → reconciled in SOME ms: applied Deployment shop/web-7 (spec.replicas 5 → 2), " +
        'recorded the Event Synced "Foo synced successfully"',
      ].join("\n").replaceAll("      →", "          →"),
    );
    await settled(namespace);
    const created = await incident.explained(["foo", "foo-1", "--limit", "50"], /was created/);
    assertMatch(created, /^TIME {2}Foo shop\/foo-1 was created by kubectl \(kubectl-client-side-apply\)\n/);
    assertMatch(created, /reconciled in SOME ms: applied Deployment shop\/web-7 \(it is new\), patched status/);
    await incident.explained(["foo", "foo-1", "--not"], /^Nothing is left to do: the last reconcile succeeded at TIME/);
    const json: { readonly chains: readonly unknown[] } = JSON.parse(await incident.why("foo", "foo-1", "-o", "json"));
    assert(json.chains.length > 0);
  },
);

controlPlaneTest("[130] why explains a foreign owner, and why --not until when the key waits", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await namespace.kubectl(["create", "deployment", "web-7", "--image=nginx:1"]);
  await using incident = await Incident.start(namespace, controlPlane.kubeconfig);
  await namespace.applyFoo(foo);
  const chain = await incident.explained(["foo", "foo-1"], /was created[^]*failed after/);
  assertMatch(chain, /^TIME {2}Foo shop\/foo-1 was created by kubectl \(kubectl-client-side-apply\)\n/);
  assertMatch(
    chain,
    /→ failed after SOME ms: Cannot apply Deployment "shop\/web-7": it has no controller, expected Foo "shop\/foo-1"/,
  );
  assertMatch(
    chain,
    /before that: recorded the warning ErrResourceExists "Resource "web-7" already exists and is not managed by Foo"/,
  );
  assertMatch(chain, /; retried at TIME \(failure N in a row\)$/);
  const reason = await incident.explained(["foo", "foo-1", "--not"], /waits until/);
  assertMatch(
    reason,
    /^Foo shop\/foo-1 \(controller foo\) waits until TIME, after N failures in a row with: Cannot apply Deployment "shop\/web-7": /,
  );
});

controlPlaneTest(
  "[130] why explains a poisoned object: it is not retried, and what would help",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await using incident = await Incident.start(namespace, controlPlane.kubeconfig);
    await namespace.applyFoo({ ...foo, deploymentName: "" });
    const chain = await incident.explained(["foo", "foo-1"], /failed after/);
    assertMatch(
      chain,
      /→ failed after SOME ms: Cannot reconcile Foo "shop\/foo-1": spec\.deploymentName is empty; it is not retried until something changes/,
    );
    assertEquals(
      (await incident.why("foo", "foo-1", "--not")).trim(),
      'Foo shop/foo-1 (controller foo) failed at TIME: Cannot reconcile Foo "shop/foo-1": spec.deploymentName is empty; ' +
        "the controller says that a retry cannot help: change the object",
    );
  },
);

controlPlaneTest("[130] why explains a missing permission with the answer of the server", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  const kinds = "--resource=foos.samplecontroller.k8s.io,deployments.apps";
  await namespace.kubectl(["create", "role", "reader", "--verb=get,list,watch", kinds]);
  await namespace.kubectl(["create", "rolebinding", "reader", "--role=reader", "--user=reader"]);
  await using incident = await Incident.start(namespace, controlPlane.kubeconfig, ["--as", "reader"]);
  await namespace.applyFoo(foo);
  const chain = await incident.explained(["foo", "foo-1"], /failed after/);
  assertMatch(chain, /User "reader" cannot patch resource "deployments" in API group "apps" in the namespace "shop"/);
  assertMatch(chain, /; retried at TIME \(failure N in a row\)$/);
});

controlPlaneTest("[130] why --not says since when the server is unreachable", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await using incident = await Incident.start(namespace, proxy.kubeconfig);
  await namespace.applyFoo(foo);
  await settled(namespace);
  await proxy.cut("refusing");
  const reason = await incident.explained(["foo", "foo-1", "--not"], /does not follow the server since/);
  assertMatch(
    reason,
    /^The cache of (foos\.samplecontroller\.k8s\.io|deployments\.apps) in (the )?(namespace )?shop does not follow the server since TIME \(/,
  );
});

controlPlaneTest(
  "[security 29] the token of the debug endpoint is in a file of its owner, and in no log",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await using incident = await Incident.start(namespace, controlPlane.kubeconfig, ["-v"]);
    const token = (await readFile(incident.tokenFile, "utf8")).trim();
    assertEquals([token.length, (await stat(incident.tokenFile)).mode & 0o777], [64, 0o600]);
    const answer = await fetch(`http://${incident.address}/debug/queues`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assertEquals([answer.status, (await answer.json()).queues[0].controller], [200, "foo"]);
    const refused = await fetch(`http://${incident.address}/debug/queues`);
    await refused.body?.cancel();
    assertEquals(refused.status, 401);
    for (const path of ["/debug/cpu?seconds=0.2", "/debug/heap"]) {
      const profile = await fetch(`http://${incident.address}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assertEquals([profile.status, typeof await profile.json()], [200, "object"], path);
    }
    assert(!incident.log.includes(token));
    const none = await runBinary(["run", "foo", "--debug-bind-address", "127.0.0.1:0"], {
      kubeconfig: controlPlane.kubeconfig,
    });
    assertEquals(none.code, 2);
    assertMatch(none.stderr, /it has no token, and a new one would be shown where it is stored.*--debug-token-file/);
  },
);
