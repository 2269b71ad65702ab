import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { type Attributes, type Authorizer, StatusError, type User } from "../model/mod.ts";
import { RequestAuthenticator, TokenAuthority } from "./mod.ts";

const admin: User = { name: "admin", uid: "1", groups: ["system:masters"], extra: new Map() };

/** An authenticator, and the requests to its authorizer. */
function setUp(isAllowed: (request: string) => boolean = () => true) {
  const requests: string[] = [];
  const authorizer: Authorizer = {
    authorize({ verb, group, resource, subresource, namespace, name }: Attributes) {
      const request = [verb, group, resource, subresource, namespace, name].join("|");
      requests.push(request);
      return { isAllowed: isAllowed(request), reason: "" };
    },
  };
  const objects = { get: () => undefined, list: () => [] };
  const tokens = new TokenAuthority({ clock: new VirtualClock(), objects, fixed: new Map([["secret", admin]]) });
  const authenticator = new RequestAuthenticator({ tokens, authorizer });
  const userOf = (headers: HeadersInit, clientName?: string) =>
    authenticator.authenticate(new Request("http://in.memory/", { headers }), {
      ...(clientName === undefined ? {} : { clientName, clientOrganizations: [`group of ${clientName}`] }),
    }, attributesFor);
  return { userOf, requests };
}

/** A request to list Pods. */
function attributesFor(user: User): Attributes {
  const about = { group: "", version: "v1", resource: "pods", subresource: "", namespace: "a", name: "", path: "" };
  return { user, verb: "list", isResourceRequest: true, ...about };
}

const bearer = { authorization: "Bearer secret" };

function errorOf(run: () => unknown): readonly unknown[] {
  const error = assertThrows(run);
  return error instanceof StatusError ? [error.status.code, error.message] : [error];
}

test("a bearer token identifies the user; a certificate comes before it", () => {
  const { userOf } = setUp();
  assertEquals(userOf(bearer)?.name, "admin");
  assertEquals(userOf({ authorization: "bearer   secret" })?.name, "admin");
  assertEquals(errorOf(() => userOf({ authorization: "Bearer wrong" })), [401, "Unauthorized"]);
  assertEquals(userOf({ authorization: "Bearer wrong" }, "node")?.name, "node");
  assertEquals(userOf(bearer, "node")?.name, "node");
});

test("a client certificate identifies the user; without token and certificate there is none", () => {
  const { userOf } = setUp();
  assertEquals(userOf({}, "node")?.groups, ["group of node", "system:authenticated"]);
  assertEquals(userOf({}), undefined);
  assertEquals(userOf({ authorization: "Basic c2VjcmV0" }), undefined);
});

const asked = {
  "impersonate-user": "jane",
  "impersonate-group": "devs, ops",
  "impersonate-uid": "7",
  "impersonate-extra-scopes": "view",
};

const parts = [
  "impersonate||users|||jane",
  "impersonate|authentication.k8s.io|uids|||7",
  "impersonate||groups|||devs",
  "impersonate||groups|||ops",
  "impersonate|authentication.k8s.io|userextras|scopes||view",
];

test("impersonation needs permission for each part of the other user", () => {
  for (const missing of [undefined, ...parts]) {
    const { userOf, requests } = setUp((request) => parts.includes(request) && request !== missing);
    if (missing !== undefined) {
      assertEquals(errorOf(() => userOf({ ...bearer, ...asked }))[0], 403);
      continue;
    }
    const user = userOf({ ...bearer, ...asked });
    assertEquals([user?.name, user?.uid, user?.groups], ["jane", "7", ["devs", "ops", "system:authenticated"]]);
    assertEquals([...user?.extra ?? []], [["scopes", ["view"]]]);
    assertEquals(requests, ["impersonate-on:user-info:list||pods||a|", ...parts]);
  }
});

test("constrained impersonation needs a permission for the type of user and one for the action", () => {
  const own = ["impersonate-on:user-info:list||pods||a|", "impersonate:user-info|authentication.k8s.io|users|||jane"];
  for (const missing of [undefined, ...own]) {
    const { userOf } = setUp((request) => own.includes(request) && request !== missing);
    const run = () => userOf({ ...bearer, "impersonate-user": "jane" });
    if (missing === undefined) assertEquals(run()?.groups, ["system:authenticated"]);
    else assertEquals(errorOf(run)[0], 403);
  }
});

test("constrained impersonation never gives system:masters", () => {
  const { userOf } = setUp((request) => !request.startsWith("impersonate|"));
  assertEquals(
    errorOf(() => userOf({ ...bearer, "impersonate-user": "jane", "impersonate-group": "system:masters" })),
    [
      403,
      'groups.authentication.k8s.io "system:masters" is forbidden: User "admin" cannot impersonate:user-info resource ' +
      '"groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is ' +
      "not allowed",
    ],
  );
});

test("an impersonated ServiceAccount and an anonymous user have their groups", () => {
  const { userOf, requests } = setUp((request) => request.startsWith("impersonate|"));
  const user = userOf({ ...bearer, "impersonate-user": "system:serviceaccount:a:robot" });
  assertEquals(user?.groups, ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
  assertEquals(requests, ["impersonate-on:serviceaccount:list||pods||a|", "impersonate||serviceaccounts||a|robot"]);
  assertEquals(userOf({ ...bearer, "impersonate-user": "system:anonymous" })?.groups, ["system:unauthenticated"]);
});

test("constrained impersonation of a Node gives its group", () => {
  const { userOf, requests } = setUp((request) => !request.startsWith("impersonate|"));
  assertEquals(userOf({ ...bearer, "impersonate-user": "system:node:a" })?.groups, [
    "system:nodes",
    "system:authenticated",
  ]);
  assertEquals(requests, [
    "impersonate-on:arbitrary-node:list||pods||a|",
    "impersonate:arbitrary-node|authentication.k8s.io|nodes|||a",
  ]);
});

test("impersonation without permission gives the 403 of the first mode", () => {
  const { userOf } = setUp(() => false);
  assertEquals(errorOf(() => userOf({ ...bearer, "impersonate-user": "jane" })), [
    403,
    'pods is forbidden: User "admin" cannot impersonate-on:user-info:list resource "pods" in API group "" in the ' +
    'namespace "a"',
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
