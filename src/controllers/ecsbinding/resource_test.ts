import { assertEquals, test } from "../../../tests/testing.ts";
import { EcsBinding } from "./resource.ts";

test("names, columns and fields are those of the original", () => {
  const { spec } = EcsBinding.crd;
  assertEquals([EcsBinding.crd.metadata.name, spec.scope], ["ecsbinding.hopegi.com", "Cluster"]);
  const { kind, plural, singular, shortNames } = spec.names;
  assertEquals([kind, plural, singular, shortNames], ["EcsBinding", "ecsbinding", "ecsbinding", ["ecsb"]]);
  const [version] = spec.versions;
  assertEquals(version?.additionalPrinterColumns?.map(({ name, type, jsonPath }) => [name, type, jsonPath]), [
    ["Age", "date", ".metadata.creationTimestamp"],
    ["NodeName", "string", ".spec.nodename"],
    ["InnerIp", "string", ".spec.innerip"],
  ]);
  const fields = version?.schema.openAPIV3Schema.properties?.spec?.properties ?? {};
  assertEquals(Object.entries(fields).map(([name, { type }]) => [name, type]).sort(), [
    ["id", "string"],
    ["innerip", "string"],
    ["name", "string"],
    ["nodename", "string"],
  ]);
  assertEquals(version?.schema.openAPIV3Schema.required, undefined);
});
