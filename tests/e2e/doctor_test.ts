/** doctor on a real API server: its findings and exit codes on healthy and on broken clusters, for several users. */
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { installFoo, removeFoo, TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";

controlPlaneTest(
  "doctor: a healthy cluster gives one ok line per check, and nothing is written",
  async (controlPlane) => {
    await installFoo(controlPlane);
    await using proxy = await ApiProxy.start(controlPlane);
    // Other namespaces have the Foos of other tests.
    const args = ["doctor", "foo", "--namespace", await createNamespace(controlPlane)];
    const { code, stdout, stderr } = await runBinary(args, { kubeconfig: proxy.kubeconfig });
    assertEquals([code, stderr], [0, ""]);
    const lines = stdout.trimEnd().split("\n");
    assert(lines.every((line) => /^ok {3,}[a-z]+ +\S+ +\S/.test(line)), stdout);
    assertMatch(lines[0] ?? "", /^ok +cluster +https:\/\/127\.0\.0\.1:\d+ +v1\.\d+\.\d+, as user ".+"$/);
    assertEquals(new Set(lines.map((line) => /^\S+ +\S+ +\S+ +/.exec(line)?.[0].length)).size, 1, stdout);
    assertEquals(proxy.writes.filter(({ path }) => !path.includes("review")), []);
  },
);

controlPlaneTest("[84] doctor: a missing CRD is exit code 6, and -o json names it", async (controlPlane) => {
  await removeFoo(controlPlane);
  const { code, stdout, stderr } = await runBinary(["doctor", "foo", "-o", "json"], {
    kubeconfig: controlPlane.kubeconfig,
  });
  assertEquals(code, 6);
  assertMatch(stderr, /^controller: Cannot run the controllers: 1 of \d+ checks failed\./);
  const { canRun, checks } = JSON.parse(stdout);
  assertEquals(canRun, false);
  const failed = checks.filter(({ status }: { status: string }) => status === "failed");
  assertEquals(failed.length, 1);
  assertEquals([failed[0].check, failed[0].subject, failed[0].state], [
    "definition",
    "foos.samplecontroller.k8s.io",
    "not installed",
  ]);
  await installFoo(controlPlane);
});

controlPlaneTest(
  "[84] doctor: missing permissions are printed as rules, and a Role with these rules is sufficient",
  async (controlPlane) => {
    await installFoo(controlPlane);
    const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
    await namespace.kubectl(["create", "serviceaccount", "narrow"]);
    const token = (await namespace.kubectl(["create", "token", "narrow"])).trim();
    const options = {
      kubeconfig: await controlPlane.kubeconfigFor({ user: "nobody" }),
      env: { CONTROLLER_TOKEN: token },
    };
    const args = ["doctor", "foo", "-n", namespace.name];
    const poor = await runBinary(args, options);
    assertEquals(poor.code, 4, poor.stderr);
    assertMatch(poor.stdout, new RegExp(`as user "system:serviceaccount:${namespace.name}:narrow"`));
    // The test pastes the YAML of the advice.
    const advised = [...poor.stdout.matchAll(/Add to a Role in [^:]+: - (\{.*\})$/gm)].map(([, rule]) => `- ${rule}`);
    assert(advised.length >= 4, poor.stdout);
    const role = ["apiVersion: rbac.authorization.k8s.io/v1", "kind: Role", "metadata: {name: narrow}", "rules:"];
    await namespace.kubectl(["apply", "-f", "-"], [...role, ...advised].join("\n"));
    const bound = ["--role=narrow", `--serviceaccount=${namespace.name}:narrow`];
    await namespace.kubectl(["create", "rolebinding", "narrow", ...bound]);
    const rich = await runBinary(args, options);
    assertEquals(rich.code, 0, rich.stdout);
    assertStringIncludes(rich.stdout, "unknown   definition   foos.samplecontroller.k8s.io");
    // With these rules the controller works.
    await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 0 });
    await using binary = new Binary(["run", "foo", "-n", namespace.name], options);
    await namespace.eventuallyEvent("Foo", "a", "Synced");
    assert(!binary.stderr.includes("forbidden"), binary.stderr);
  },
);

controlPlaneTest("doctor: the holder of the Lease is named while it leads", async (controlPlane) => {
  await installFoo(controlPlane);
  const namespace = await createNamespace(controlPlane);
  const election = ["--leader-elect", "--leader-election-id", "doctor-test", "--leader-election-namespace", namespace];
  const { kubeconfig } = controlPlane;
  const before = await runBinary(["doctor", "foo", ...election], { kubeconfig });
  assertMatch(before.stdout, /ok +lease +test-\w+\/doctor-test +no holder\n/);
  await using leader = new Binary(["run", "foo", "-n", namespace, ...election], { kubeconfig });
  await leader.logged(/INFO +leader +leading /);
  const during = await runBinary(["doctor", "foo", ...election], { kubeconfig });
  assertEquals(during.code, 0, during.stdout);
  assertMatch(during.stdout, /ok +lease +test-\w+\/doctor-test +held by \S+, renewed \d+ s ago\n/);
});

controlPlaneTest("[84] doctor: an unreachable cluster, and one that rejects the credentials", async (controlPlane) => {
  const away = await controlPlane.kubeconfigFor({ server: "https://127.0.0.1:1" });
  const gone = await runBinary(["doctor", "--connect-timeout", "500ms"], { kubeconfig: away });
  assertEquals(gone.code, 5);
  assertMatch(gone.stdout, /^FAILED +cluster +https:\/\/127\.0\.0\.1:1 +Cannot reach the API server [^\n]+\n$/);
  const expired = await runBinary(["doctor"], { kubeconfig: await controlPlane.kubeconfigFor({ user: "expired" }) });
  assertEquals(expired.code, 4);
  const none = await runBinary(["doctor"]);
  assertEquals([none.code, none.stdout], [3, ""]);
});

controlPlaneTest("doctor: webhooks are checked while they are served, and afterwards", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await runBinary(["install-crds", "nodepool"], { kubeconfig });
  const local = ["--webhook-host", "127.0.0.1", "--webhook-port", "0"];
  await using binary = new Binary(["run", "nodepool", ...local], { kubeconfig });
  await binary.logged(/serving webhooks on this machine/);
  const { stdout } = await runBinary(["doctor", "nodepool"], { kubeconfig });
  assertMatch(stdout, /ok +webhook +mutating controller\.controller-system +1 webhook, with a certificate authority\n/);
  assertMatch(
    stdout,
    /ok +webhook +validating controller\.controller-system +1 webhook, with a certificate authority\n/,
  );
  const configuration = ["validatingwebhookconfiguration", "controller.controller-system"];
  const patch = '[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":"bm90aGluZw=="}]';
  const { code } = await controlPlane.kubectl(["patch", ...configuration, "--type=json", `--patch=${patch}`]);
  // The API server rejects an invalid CA bundle; if it does not, doctor reports it.
  if (code === 0) {
    assertMatch((await runBinary(["doctor", "nodepool"], { kubeconfig })).stdout, /FAILED +webhook +validating/);
  }
  binary.signal("SIGTERM");
  assertEquals((await binary.ended()).code, 0);
  const after = await runBinary(["doctor", "nodepool"], { kubeconfig });
  assertMatch(after.stdout, /warning +webhook +mutating controller\.controller-system +not installed/);
});
