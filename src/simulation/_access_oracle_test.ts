import { assertEquals, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import { AccessOracle } from "./_access_oracle.ts";

const messages: readonly (readonly [message: string, violation: string | undefined])[] = [
  [
    'secrets is forbidden: User "x" cannot list resource "secrets" in API group "" at the cluster scope: controller "a" did ' +
    'not declare list on secrets. Declare .uses(Secret, ["list"])',
    'controller "a" did not declare list on secrets. Declare .uses(Secret, ["list"])',
  ],
  [
    'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "b": controller "a" may list ' +
    'pods in the namespace "c" only',
    'controller "a" may list pods in the namespace "c" only',
  ],
  [
    'leases is forbidden: User "x" cannot get resource "leases": no controller of "simulation" declared get on leases',
    'no controller of "simulation" declared get on leases',
  ],
  ['pods "a" is forbidden: exceeded quota: small, requested: pods=1', undefined],
  ['admission webhook "w" denied the request: no', undefined],
];

for (const [message, violation] of messages) {
  test(`AccessOracle reports ${violation ?? "nothing"} for: ${message}`, async () => {
    const oracle = new AccessOracle({ clock: new VirtualClock(), hasExisted: () => true });
    const server = oracle.observe(() => Promise.resolve(Response.json({ code: 403, message }, { status: 403 })));
    const response = await server(new Request("http://in.memory/api/v1/pods"));
    assertEquals((await response.json()).message, message, "the response is passed on");
    const violations = oracle.violations.map((one) => [one.invariant, one.message]);
    assertEquals(violations, violation === undefined ? [] : [["declared-access", violation]]);
  });
}

test("AccessOracle does not report an apply of fields of an object that was deleted meanwhile", async () => {
  const message =
    'configmaps is forbidden: User "x" cannot create: controller "a" did not declare create on configmaps.';
  const clock = new VirtualClock();
  const denials = (hasExisted: boolean) => {
    const oracle = new AccessOracle({ clock, hasExisted: () => hasExisted });
    const server = oracle.observe(() => Promise.resolve(Response.json({ code: 403, message }, { status: 403 })));
    return async (method: string) => {
      await server(new Request("http://in.memory/api/v1/namespaces/default/configmaps/a", { method }));
      return oracle.violations.length;
    };
  };
  assertEquals([await denials(true)("PATCH"), await denials(true)("POST")], [0, 1]);
  assertEquals(await denials(false)("PATCH"), 1, "an apply of an object that has never existed creates it");
  const again = denials(true);
  assertEquals(await again("PATCH"), 0);
  await clock.advance(60_000);
  assertEquals(await again("PATCH"), 1, "an apply that goes on wants to create the object");
});
