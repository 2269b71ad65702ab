/**
 * Objects and patches for the comparison with Kubernetes' own libraries. The libraries themselves create strategic merge
 * patches from two objects, as kubectl does.
 */
import fc from "fast-check";
import type { Json, JsonObject } from "../../src/apiserver/model/mod.ts";

const word = fc.constantFrom("a", "b", "c");

/** An object that may lack any of its fields. */
function partial(fields: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> {
  return fc.record(fields, { requiredKeys: [] }).map((object) => JSON.parse(JSON.stringify(object)));
}

function mapOf(keys: fc.Arbitrary<string>, values: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(keys, values, { maxKeys: 3 }).map((object) => JSON.parse(JSON.stringify(object)));
}

/** A list of objects that are identified by a field. */
function listBy(key: string, items: fc.Arbitrary<JsonObject>): fc.Arbitrary<Json> {
  return fc.uniqueArray(items, { maxLength: 3, selector: (item) => item[key] });
}

const anything: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.constantFrom<Json>(1, -1, true, null, ""),
    fc.array(tie("value"), { maxLength: 3 }),
    mapOf(fc.constantFrom("a", "b", "__proto__", "toString", "a/b", "~x"), tie("value")),
  ),
})).value;

/** Objects of any shape. */
export const arbitraryObject: fc.Arbitrary<JsonObject> = mapOf(fc.constantFrom("a", "b", "c", "__proto__"), anything);

/** Merge patches of any shape, without lists, which the libraries read as objects. */
export const arbitraryMergePatch: fc.Arbitrary<Json> = anything.filter((patch) => !Array.isArray(patch));

const step = fc.constantFrom("a", "b", "c", "0", "1", "-1", "-", "__proto__", "a~1b", "~0x", "01", "+1", "9");
const path = fc.oneof(
  { arbitrary: fc.constantFrom("/a", "/b", "/c", "/__proto__"), weight: 10 },
  { arbitrary: fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => `/${steps.join("/")}`), weight: 10 },
  { arbitrary: fc.constantFrom("", "a", "a/b", "/", "//"), weight: 1 },
);
const verb = fc.constantFrom(
  "add",
  "add",
  "add",
  "replace",
  "replace",
  "copy",
  "copy",
  "remove",
  "move",
  "test",
  "nothing",
);

/** JSON patches, of which about half apply. A value is always present, because the library panics without one. */
export const arbitraryJsonPatch: fc.Arbitrary<Json> = fc.array(
  fc.record({ op: verb, path, from: path, value: anything }, { requiredKeys: ["op", "path", "value"] }),
  { minLength: 1, maxLength: 3 },
).map((operations) => operations.map((operation): JsonObject => ({ ...operation })));

const named = (rest: Record<string, fc.Arbitrary<Json>>, key = "name") =>
  fc.tuple(word, partial(rest)).map(([name, fields]): JsonObject => ({ ...fields, [key]: name }));

const containerPort = fc.tuple(fc.constantFrom(1, 2, 3), fc.constantFrom("TCP", "UDP"))
  .map(([containerPort, protocol]): JsonObject => ({ containerPort, protocol }));

const container = named({
  image: word,
  env: listBy("name", named({ value: word })),
  ports: listBy("containerPort", containerPort),
  args: fc.array(word, { maxLength: 2 }),
  resources: partial({ limits: mapOf(word, word) }),
  volumeMounts: listBy("mountPath", named({ name: word }, "mountPath")),
});

const volume = fc.tuple(word, fc.constantFrom<JsonObject>({ emptyDir: {} }, { configMap: { name: "a" } }, {}))
  .map(([name, source]): JsonObject => ({ name, ...source }));

const metadata = partial({
  name: word,
  labels: mapOf(fc.constantFrom("a", "b", "__proto__"), word),
  annotations: mapOf(word, word),
  finalizers: fc.uniqueArray(word, { maxLength: 3 }),
  ownerReferences: listBy("uid", named({ name: word }, "uid")),
});

const podSpec = partial({
  containers: listBy("name", container),
  initContainers: listBy("name", container),
  volumes: listBy("name", volume),
  nodeSelector: mapOf(word, word),
  tolerations: fc.array(named({}, "key"), { maxLength: 2 }),
  imagePullSecrets: listBy("name", named({})),
  hostNetwork: fc.boolean(),
});

const conditions = listBy("type", named({ status: word }, "type"));
const strategy = fc.constantFrom<Json>({}, { type: "Recreate" }, {
  type: "RollingUpdate",
  rollingUpdate: { maxSurge: 1 },
});
const servicePort = fc.tuple(fc.constantFrom(1, 2, 3), word).map(([port, name]): JsonObject => ({ port, name }));

/** Objects of built-in kinds, with the fields that matter for strategic merge patch. */
export const arbitraryBuiltins: ReadonlyMap<string, fc.Arbitrary<JsonObject>> = new Map([
  ["Pod", partial({ metadata, spec: podSpec, status: partial({ conditions }) })],
  [
    "Deployment",
    partial({
      metadata,
      spec: partial({
        replicas: fc.constantFrom(1, 2),
        template: partial({ metadata, spec: podSpec }),
        strategy,
        selector: partial({ matchLabels: mapOf(word, word) }),
      }),
      status: partial({ conditions }),
    }),
  ],
  [
    "Service",
    partial({
      metadata,
      spec: partial({
        ports: listBy("port", servicePort),
        selector: mapOf(word, word),
        type: word,
        externalIPs: fc.array(word, { maxLength: 2 }),
      }),
    }),
  ],
]);
