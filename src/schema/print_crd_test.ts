import { assertEquals, test } from "../../tests/testing.ts";
import { parseYaml } from "../yaml/mod.ts";
import { defineResource, printCrd, z } from "./mod.ts";

test("printCrd() reads back as the CRD it printed", () => {
  const spec = z.object({ y: z.string().regex(/^[a-z]: #/), n: z.enum(["on", "off"]).default("on") });
  const { crd } = defineResource({ group: "example.dev", version: "v1", kind: "Odd", scope: "Cluster", spec });
  assertEquals(parseYaml(printCrd(crd), { dialect: "go" }).value(), JSON.parse(JSON.stringify(crd)));
});
