import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { StatusError } from "../model/mod.ts";
import { protobufType } from "../protobuf/mod.ts";
import { bodyFormat, findNegotiated, negotiate, notProduced } from "./media_types.ts";

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
  ["application/vnd.kubernetes.protobuf, application/json", "protobuf"],
  ["application/vnd.kubernetes.protobuf;q=0.4, application/json;q=0.5", "json"],
  ["application/vnd.kubernetes.protobuf;stream=watch", "protobuf"],
  ["application/yaml;stream=watch, application/json", "json"],
  [
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "protobuf PartialObjectMetadata v1",
  ],
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

for (const accept of ["text/html", `${protobufType};${table}`, "application/json;as=Bogus;v=v1;g=x", ","]) {
  test(`Accept: ${accept} is rejected with 406`, () => {
    const error = assertThrows(() => negotiate(accept));
    assert(error instanceof StatusError);
    assertEquals([error.status.code, error.status.reason], [406, "NotAcceptable"]);
  });
}

test("a 406 lists the types of kube-apiserver", () => {
  const { message } = assertThrows(() => negotiate("application/xml"));
  const types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  assertEquals(message, `only the following media types are accepted: ${types}`);
});

test("custom resources are not negotiated to protobuf, but their metadata and their errors are", () => {
  const metadata = `${protobufType};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;
  const formats = (accept: string) =>
    (["builtin", "custom", "plain", "discovery"] as const).map((endpoint) => findNegotiated(accept, endpoint)?.format);
  assertEquals(formats(protobufType), ["protobuf", undefined, "protobuf", undefined]);
  assertEquals(formats(`${protobufType},application/json`), ["protobuf", "json", "protobuf", undefined]);
  assertEquals(formats(metadata), ["protobuf", "protobuf", undefined, undefined]);
  assertEquals(formats(`application/json,${protobufType};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`), [
    "json",
    "json",
    "json",
    "protobuf",
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
