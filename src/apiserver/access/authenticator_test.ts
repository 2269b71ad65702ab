import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { type Attributes, type Authorizer, StatusError, type User } from "../model/mod.ts";
import { RequestAuthenticator, TokenAuthority } from "./mod.ts";

const admin: User = { name: "admin", uid: "1", groups: ["system:masters"], extra: new Map() };

/** An authenticator, and the requests to its authorizer. */
function setUp(isAllowed = true) {
  const requests: string[] = [];
  const authorizer: Authorizer = {
    authorize({ verb, group, resource, subresource, namespace, name }: Attributes) {
      requests.push([verb, group, resource, subresource, namespace, name].join("|"));
      return { isAllowed, reason: "" };
    },
  };
  const objects = { get: () => undefined, list: () => [] };
  const tokens = new TokenAuthority({ clock: new VirtualClock(), objects, fixed: new Map([["secret", admin]]) });
  const authenticator = new RequestAuthenticator({ tokens, authorizer });
  const userOf = (headers: HeadersInit, clientName?: string) =>
    authenticator.authenticate(new Request("http://in.memory/", { headers }), {
      ...(clientName === undefined ? {} : { clientName, clientOrganizations: [`group of ${clientName}`] }),
    });
  return { userOf, requests };
}

const bearer = { authorization: "Bearer secret" };

function errorOf(run: () => unknown): readonly unknown[] {
  const error = assertThrows(run);
  return error instanceof StatusError ? [error.status.code, error.message] : [error];
}

test("a bearer token identifies the user; an invalid token is rejected even beside a certificate", () => {
  const { userOf } = setUp();
  assertEquals(userOf(bearer)?.name, "admin");
  assertEquals(userOf({ authorization: "bearer   secret" })?.name, "admin");
  assertEquals(errorOf(() => userOf({ authorization: "Bearer wrong" })), [401, "Unauthorized"]);
  assertEquals(errorOf(() => userOf({ authorization: "Bearer wrong" }, "node")), [401, "Unauthorized"]);
});

test("a client certificate identifies the user; without token and certificate there is none", () => {
  const { userOf } = setUp();
  assertEquals(userOf({}, "node")?.groups, ["group of node", "system:authenticated"]);
  assertEquals(userOf({}), undefined);
  assertEquals(userOf({ authorization: "Basic c2VjcmV0" }), undefined);
});

test("impersonation needs permission for each part of the other user", () => {
  const { userOf, requests } = setUp();
  const user = userOf({
    ...bearer,
    "impersonate-user": "jane",
    "impersonate-group": "devs, ops",
    "impersonate-uid": "7",
    "impersonate-extra-scopes": "view",
  });
  assertEquals([user?.name, user?.uid, user?.groups], ["jane", "7", ["devs", "ops", "system:authenticated"]]);
  assertEquals([...user?.extra ?? []], [["scopes", ["view"]]]);
  assertEquals(requests, [
    "impersonate||users|||jane",
    "impersonate||groups|||devs",
    "impersonate||groups|||ops",
    "impersonate|authentication.k8s.io|uids|||7",
    "impersonate|authentication.k8s.io|userextras|scopes||view",
  ]);
});

test("an impersonated ServiceAccount has its groups", () => {
  const { userOf, requests } = setUp();
  const user = userOf({ ...bearer, "impersonate-user": "system:serviceaccount:a:robot" });
  assertEquals(user?.groups, ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
  assertEquals(requests, ["impersonate||serviceaccounts||a|robot"]);
});

test("impersonation without permission gives a 403", () => {
  const { userOf } = setUp(false);
  assertEquals(errorOf(() => userOf({ ...bearer, "impersonate-user": "jane" })), [
    403,
    'users "jane" is forbidden: User "admin" cannot impersonate resource "users" in API group "" at the cluster scope',
  ]);
});

test("impersonated groups without a user give an error in Go's format", () => {
  const { userOf } = setUp();
  assertEquals(errorOf(() => userOf({ ...bearer, "impersonate-group": "a" })), [
    400,
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without ' +
    "impersonating a user name",
  ]);
});
