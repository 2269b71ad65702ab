/**
 * Accounts: users whose permissions are given when the server starts. The controllers of a World, of `dev` and of the
 * simulation have one each. Their requests are authenticated by a token, and RBAC decides on the rules as on those of stored
 * roles; stored bindings can grant them more.
 */
import type { ReceivedHead } from "../../runtime/mod.ts";
import type { PolicyRule } from "../../api/mod.ts";
import type {
  Attributes,
  Authenticator,
  Authorizer,
  Connection,
  JsonObject,
  ObjectReader,
  User,
} from "../model/mod.ts";
import { bearerOf, unauthorized } from "./authenticator.ts";
import { bootstrapRbac } from "./bootstrap_rbac.ts";
import { type AttributesFor, Impersonation } from "./impersonation.ts";

/** A user with given permissions. */
export interface Account {
  readonly user: User;
  readonly token: string;
  /** By namespace; those of "" hold in the whole cluster. */
  readonly rules: ReadonlyMap<string, readonly PolicyRule[]>;
  /**
   * Returns what would allow a denied request, for the message of the 403.
   *
   * @param kind The name of the kind, if the server knows it.
   */
  explain(denied: Attributes, kind: string | undefined): string;
}

/** Requests with the token of an account are those of the account, and requests without a credential those of `admin`. */
export class AccountAuthenticator implements Authenticator {
  readonly #users: ReadonlyMap<string, User>;
  readonly #admin: User;
  readonly #impersonation: Impersonation;

  /** @param authorizer decides about impersonation */
  constructor(accounts: readonly Account[], admin: User, authorizer: Authorizer) {
    this.#users = new Map(accounts.map(({ token, user }) => [token, user]));
    this.#admin = admin;
    this.#impersonation = new Impersonation(authorizer);
  }

  /** @throws StatusError 401 for an unknown token, 403 for impersonation without permission */
  authenticate(request: ReceivedHead, _connection: Connection, attributesFor: AttributesFor): User {
    const hasCredential = request.headers.has("authorization");
    const sender = hasCredential ? this.#users.get(bearerOf(request) ?? "") : this.#admin;
    if (sender === undefined) throw unauthorized();
    return this.#impersonation.userOf(request, sender, attributesFor);
  }
}

let bootstrapped: ReadonlyMap<string, ReadonlyMap<string, JsonObject>> | undefined;

/** The objects of a server whose storage has no bootstrap roles, with these roles and bindings. */
export function withBootstrapRbac(objects: ObjectReader): ObjectReader {
  const bootstrapIn = (collection: string) => {
    bootstrapped ??= byCollection();
    return bootstrapped.get(collection);
  };
  return {
    get: (collection, namespace, name) =>
      objects.get(collection, namespace, name) ?? bootstrapIn(collection)?.get(`${namespace}/${name}`),
    *list(collection, namespace) {
      yield* objects.list(collection, namespace);
      for (const [key, object] of bootstrapIn(collection) ?? []) {
        if (namespace === undefined || key.startsWith(`${namespace}/`)) yield object;
      }
    },
  };
}

function byCollection(): ReadonlyMap<string, ReadonlyMap<string, JsonObject>> {
  const collections = new Map<string, Map<string, JsonObject>>();
  for (const [collection, object] of bootstrapRbac(() => ({}))) {
    const { namespace = "", name } = object.metadata;
    collections.set(collection, (collections.get(collection) ?? new Map()).set(`${namespace}/${name}`, object));
  }
  return collections;
}
