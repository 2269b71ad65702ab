import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { StatusError } from "../model/mod.ts";
import { bodyFormat, negotiate, notProduced } from "./media_types.ts";

const table = "as=Table;v=v1;g=meta.k8s.io";

const accepted: readonly (readonly [string | null, string])[] = [
  [null, "json"],
  ["", "json"],
  ["*/*", "json"],
  ["application/*", "json"],
  ["application/json", "json"],
  ["application/yaml", "yaml"],
  ["application/json;pretty=1", "json pretty"],
  ["application/json;stream=watch", "json"],
  ["application/vnd.kubernetes.protobuf, application/json", "json"],
  ["text/html;q=0.9, application/yaml;q=0.8, */*;q=0.1", "yaml"],
  [`application/json;${table}`, "json Table v1"],
  [`application/json;${table}, application/json`, "json Table v1"],
  ["application/json;as=Table;v=v1beta1;g=meta.k8s.io", "json Table v1beta1"],
  ["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "json PartialObjectMetadataList v1"],
  [`application/vnd.kubernetes.protobuf;${table},application/json;${table},application/json`, "json Table v1"],
  ["application/json;as=Bogus;v=v1;g=meta.k8s.io, application/json", "json"],
];

for (const [accept, expected] of accepted) {
  test(`Accept: ${accept} is negotiated to ${expected}`, () => {
    const { format, isPretty, transform } = negotiate(accept);
    const form = transform === undefined ? "" : ` ${transform.kind} ${transform.version}`;
    assertEquals(`${format}${isPretty ? " pretty" : ""}${form}`, expected);
  });
}

for (const accept of ["text/html", "application/vnd.kubernetes.protobuf", "application/json;as=Bogus;v=v1;g=x", ","]) {
  test(`Accept: ${accept} is rejected with 406`, () => {
    const error = assertThrows(() => negotiate(accept));
    assert(error instanceof StatusError);
    assertEquals([error.status.code, error.status.reason], [406, "NotAcceptable"]);
  });
}

test("a 406 lists the types of kube-apiserver, without protobuf for a client that accepts only protobuf", () => {
  const messages = ["application/xml", "application/vnd.kubernetes.protobuf"].map((accept) =>
    assertThrows(() => negotiate(accept)).message.replace("only the following media types are accepted: ", "")
  );
  assertEquals(messages, [
    "application/json, application/yaml, application/vnd.kubernetes.protobuf",
    "application/json, application/yaml",
  ]);
});

test("routes compare the types of an Accept header without their parameters", () => {
  const accepts = [
    "application/json;as=Table;v=v9",
    "text/html;q=1, application/yaml",
    "*/*;q=0.1",
    "application/*",
    ",",
  ];
  assertEquals(accepts.map((accept) => notProduced(accept, false)?.status.code), [
    undefined,
    undefined,
    undefined,
    406,
    406,
  ]);
  const streams = [true, false].map((isStream) => notProduced("text/html", isStream)?.message.endsWith("stream=watch"));
  assertEquals(streams, [true, false]);
});

test("bodies are JSON or YAML, with any parameters; others are rejected with 415", () => {
  assertEquals(bodyFormat(null), "json");
  assertEquals(bodyFormat("application/json; charset=utf-8"), "json");
  assertEquals(bodyFormat("application/yaml"), "yaml");
  const error = assertThrows(() => bodyFormat("text/plain"));
  assert(error instanceof StatusError);
  assertEquals([error.status.code, error.status.reason], [415, "UnsupportedMediaType"]);
});
