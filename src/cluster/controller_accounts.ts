/**
 * ControllerAccounts: the users that controllers are on an API server of this process: one for the operator, with the
 * permissions that `manifests` prints, and one for each controller, with only its own. The caches of a Manager belong to the
 * operator; every other request is sent with the token of the controller that makes it.
 *
 * Guarantees: the permissions come from the same list as those of `manifests`; a controller cannot send a request as another
 * user.
 */
import { type Account, serviceAccountUser } from "../apiserver/mod.ts";
import type { Transport } from "../client/mod.ts";
import type { ControllerDefinition } from "../controller/mod.ts";
import {
  type AccessGrant,
  type AccessPlace,
  controllerGrants,
  policyRules,
  processGrants,
  undeclaredReason,
} from "../manager/mod.ts";

/** Options of {@link ControllerAccounts}. */
export interface ControllerAccountsOptions {
  readonly controllers: readonly ControllerDefinition[];
  /** The name of the operator. */
  readonly name: string;
  /** The namespaces of the Manager. @default all */
  readonly namespaces?: readonly string[];
  /** The Manager selects its namespaces by labels. @default false */
  readonly selectsNamespaces?: boolean;
  /** What of a Fleet the server is. @default "cluster": there is no Fleet */
  readonly place?: AccessPlace;
  /** The Lease that the operator may use. @default none */
  readonly lease?: { readonly namespace: string; readonly name: string };
  /** Returns a new token. @default the name of the user, for servers that only this process can reach */
  readonly newToken?: (userName: string) => string;
}

export class ControllerAccounts {
  /** For the API server. */
  readonly accounts: readonly Account[];
  readonly #operatorToken: string;
  readonly #tokens: ReadonlyMap<string, string>;

  constructor(options: ControllerAccountsOptions) {
    const { controllers, name, namespaces = [], place, lease, newToken = (userName) => userName } = options;
    // The names are those of the ServiceAccounts that `manifests` prints, for all controllers and for one of them.
    const accountOf = (
      account: string,
      grants: readonly AccessGrant[],
      reasonOf: (denied: Parameters<typeof undeclaredReason>[2]) => string,
    ): Account => {
      const user = serviceAccountUser(`${name}-system`, account, "");
      const explain: Account["explain"] = (denied, kind) => reasonOf({ ...denied, kind });
      return { user, token: newToken(user.name), rules: policyRules(grants), explain };
    };
    const own = controllers.map((definition) => {
      const grants = controllerGrants(definition, { namespaces, place });
      const account = accountOf(
        `${name}-${definition.name}`,
        grants,
        (denied) => undeclaredReason(definition, grants, denied),
      );
      return { definition, grants, account };
    });
    const { selectsNamespaces } = options;
    const forProcess = processGrants({
      ...(lease === undefined ? { namespace: "" } : { namespace: lease.namespace, lease: lease.name, isSharded: true }),
      selectsNamespaces,
    });
    const operator = accountOf(
      name,
      [...own.flatMap(({ grants }) => grants), ...forProcess],
      ({ verb, resource }) => `no controller of "${name}" declared ${verb} on ${resource}`,
    );
    this.accounts = [operator, ...own.map(({ account }) => account)];
    this.#operatorToken = operator.token;
    this.#tokens = new Map(own.map(({ definition, account }) => [definition.name, account.token]));
  }

  /** The transport of the operator: for the caches and the leader election of a Manager. */
  readonly operatorTransport = (transport: Transport): Transport => {
    // The requests of controllers pass here too, and have their own token already.
    return (request) => transport(request.headers.has(header) ? request : withToken(request, this.#operatorToken));
  };

  /** The transport of one controller; an option of a Manager. */
  readonly transportFor = (controller: string, transport: Transport): Transport => {
    const token = this.#tokens.get(controller);
    if (token === undefined) {
      throw new TypeError(`Cannot send requests as controller "${controller}": it has no account`);
    }
    return (request) => transport(withToken(request, token));
  };

  /** The controller that sends a request; undefined for the operator itself. */
  controllerOf(request: Request): string | undefined {
    const token = request.headers.get(header)?.slice("Bearer ".length);
    for (const [controller, own] of this.#tokens) if (own === token) return controller;
    return undefined;
  }
}

const header = "authorization";

/** Changes the request, because a copy would lose its send guard and cost more than all else here. */
function withToken(request: Request, token: string): Request {
  request.headers.set(header, `Bearer ${token}`);
  return request;
}
