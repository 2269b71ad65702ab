/** Tests of the generated types: they are those of the stored schemas, and each kind of Kubernetes is public. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedTypes } from "../tasks/_schema_files.ts";
import { typeFiles } from "../tasks/_type_files.ts";
import { root } from "../tasks/_root.ts";
import { staleTypes } from "../tasks/types.ts";
import { readBuiltinNames } from "../src/apiserver/kinds/kind_names.ts";
import * as kinds from "../src/kinds.ts";
import type { appsv1, corev1 } from "../src/kinds.ts";
import { assert, assertEquals, assertType, type Same, test } from "./testing.ts";

test("the generated types and schemas are what `deno task types` writes from the stored schemas", () => {
  const files = [...typeFiles(), embeddedTypes()];
  assert(files.length > 20, `${files.length} files`);
  assertEquals(staleTypes(files), [], "run: deno task types");
  const [first, ...others] = files;
  assert(first !== undefined);
  assertEquals(staleTypes([{ ...first, text: `${first.text}\n` }, ...others]), [first.path]);
  assertEquals(staleTypes(others), [first.path]);
});

test("the entry /kinds has every kind that the embedded API server serves, under its names there", () => {
  const byId = new Map(
    Object.values(kinds).filter((value) => "kind" in value).map((kind) =>
      [`${kind.group}/${kind.version}/${kind.plural}`, kind] as const
    ),
  );
  const served = readBuiltinNames();
  assertEquals(byId.size, served.length);
  assert(served.length > 60);
  for (const { group, version, kind, plural, scope } of served) {
    const found = byId.get(`${group}/${version}/${plural}`);
    assertEquals({ kind: found?.kind, scope: found?.scope }, { kind, scope }, `${group}/${version}/${plural}`);
  }
});

test("the entry /kinds exports the types of every group and version", () => {
  const exported = readFileSync(join(root, "src/kinds.ts"), "utf8");
  const names = typeFiles().map(({ path }) => path.replace(/^.*\/|\.ts$/g, "")).filter((name) => name !== "kinds");
  assertEquals(names.filter((name) => !new RegExp(`\\b${name.replace("_", "")},`).test(exported)), []);
});

test("generated types have the fields of Kubernetes 1.36, as readonly data with the texts that the API server allows", () => {
  assertType<Same<kinds.Pod["spec"]["resources"], corev1.ResourceRequirements | undefined>>(true);
  assertType<Same<corev1.PodSpec["containers"], readonly corev1.Container[]>>(true);
  assertType<Same<corev1.PodSpec["restartPolicy"], "Always" | "Never" | "OnFailure" | undefined>>(true);
  assertType<Same<kinds.Deployment["kind"], "Deployment">>(true);
  assertType<Same<corev1.ServicePort["targetPort"], number | string | undefined>>(true);
  // An object inside of another one needs no apiVersion and kind, the object itself has them.
  const claim: NonNullable<appsv1.StatefulSetSpec["volumeClaimTemplates"]>[number] = { metadata: {}, spec: {} };
  assertType<Same<typeof claim.kind, "PersistentVolumeClaim" | undefined>>(true);
  assertType<Same<kinds.PersistentVolumeClaim["kind"], "PersistentVolumeClaim">>(true);
  const pod = {} as kinds.Pod;
  // @ts-expect-error readonly
  (() => pod.spec.containers = []).name;
  // @ts-expect-error no such policy
  const policy: corev1.PodSpec["restartPolicy"] = "Sometimes";
  assertEquals(policy, "Sometimes");
});
