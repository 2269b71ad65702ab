import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { type Attributes, type Authorizer, Refusal, type User } from "../model/mod.ts";
import { RequestAuthenticator, TokenAuthority } from "./mod.ts";

const admin: User = { name: "admin", uid: "1", groups: ["system:masters"], extra: new Map() };

/** An authenticator, and what it has asked of its authorizer. */
function setUp(isAllowed = true) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    authorize({ verb, group, resource, subresource, namespace, name }: Attributes) {
      asked.push([verb, group, resource, subresource, namespace, name].join("|"));
      return { isAllowed, reason: "" };
    },
  };
  const objects = { get: () => undefined, list: () => [] };
  const tokens = new TokenAuthority({ clock: new VirtualClock(), objects, fixed: new Map([["secret", admin]]) });
  const authenticator = new RequestAuthenticator({ tokens, authorizer, groupsOf: (name) => [`group of ${name}`] });
  const who = (headers: HeadersInit, clientName?: string) =>
    authenticator.authenticate(new Request("http://in.memory/", { headers }), clientName);
  return { who, asked };
}

const bearer = { authorization: "Bearer secret" };

function refusalOf(run: () => unknown): readonly unknown[] {
  const error = assertThrows(run);
  return error instanceof Refusal ? [error.status.code, error.message] : [error];
}

test("a bearer token says who asks, and a wrong one nobody: it is refused even beside a certificate", () => {
  const { who } = setUp();
  assertEquals(who(bearer)?.name, "admin");
  assertEquals(who({ authorization: "bearer   secret" })?.name, "admin");
  assertEquals(refusalOf(() => who({ authorization: "Bearer wrong" })), [401, "Unauthorized"]);
  assertEquals(refusalOf(() => who({ authorization: "Bearer wrong" }, "node")), [401, "Unauthorized"]);
});

test("a client certificate says who asks; without either nobody does", () => {
  const { who } = setUp();
  assertEquals(who({}, "node")?.groups, ["group of node", "system:authenticated"]);
  assertEquals(who({}), undefined);
  assertEquals(who({ authorization: "Basic c2VjcmV0" }), undefined);
});

test("whoever acts as somebody else is asked for each thing that is taken on", () => {
  const { who, asked } = setUp();
  const taken = who({
    ...bearer,
    "impersonate-user": "jane",
    "impersonate-group": "devs, ops",
    "impersonate-uid": "7",
    "impersonate-extra-scopes": "view",
  });
  assertEquals([taken?.name, taken?.uid, taken?.groups], ["jane", "7", ["devs", "ops", "system:authenticated"]]);
  assertEquals([...taken?.extra ?? []], [["scopes", ["view"]]]);
  assertEquals(asked, [
    "impersonate||users|||jane",
    "impersonate||groups|||devs",
    "impersonate||groups|||ops",
    "impersonate|authentication.k8s.io|uids|||7",
    "impersonate|authentication.k8s.io|userextras|scopes||view",
  ]);
});

test("who acts as a ServiceAccount has its groups", () => {
  const { who, asked } = setUp();
  const taken = who({ ...bearer, "impersonate-user": "system:serviceaccount:a:robot" });
  assertEquals(taken?.groups, ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
  assertEquals(asked, ["impersonate||serviceaccounts||a|robot"]);
});

test("who may not act as somebody else is refused with 403", () => {
  const { who } = setUp(false);
  assertEquals(refusalOf(() => who({ ...bearer, "impersonate-user": "jane" })), [
    403,
    'users "jane" is forbidden: User "admin" cannot impersonate resource "users" in API group "" at the cluster scope',
  ]);
});

test("groups without a user are a mistake, which is shown as Go shows it", () => {
  const { who } = setUp();
  assertEquals(refusalOf(() => who({ ...bearer, "impersonate-group": "a" })), [
    400,
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without ' +
    "impersonating a user name",
  ]);
});
