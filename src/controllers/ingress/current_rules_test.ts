import { Ingress, Service } from "../../mod.ts";
import { World } from "../../testing.ts";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { ingressManager } from "./controller.ts";
import { CurrentRules } from "./current_rules.ts";
import { parseHostRule } from "./rules.ts";

test("replaced rules are used for all Services at once: an Ingress appears, and one that is not allowed goes", async () => {
  const rules = new CurrentRules({ hosts: [parseHostRule("a.example.com")] });
  await using world = await World.start({ controllers: [ingressManager(rules, rules.source)] });
  for (const name of ["a", "b"]) {
    const annotations = { "ingress/http": `${name}.example.com` };
    await world.create(Service, { name, annotations, spec: { ports: [{ port: 80 }] } });
  }
  await world.settled();
  const found = () => ["a", "b"].filter((name) => world.find(Ingress, `default/${name}`) !== undefined);
  assertEquals(found(), ["a"]);
  rules.replace({ hosts: [parseHostRule("b.example.com")], classes: [{ namespace: undefined, className: "nginx" }] });
  await world.settled();
  assertEquals(found(), ["b"]);
  assert(world.find(Ingress, "default/b")?.spec?.ingressClassName === "nginx");
});
