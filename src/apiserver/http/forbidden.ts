/**
 * The 403 of a request that the authorizer does not allow, with the text of apiserver `responsewriters/errors.go`.
 */
import { type Attributes, forbidden, type Refusal, type User } from "../model/mod.ts";

/** Says who may not do what. @param reason the authorizer's, or "" */
export function forbiddenBy(user: User, attributes: Attributes, reason: string): Refusal {
  const what = sanitized(actionText(user, attributes));
  const { group, resource, name } = attributes;
  return forbidden({ group, resource, name }, reason === "" ? what : `${what}: ${reason}`);
}

function actionText(user: User, attributes: Attributes): string {
  const { verb, isResourceRequest, path, resource, subresource, group, namespace } = attributes;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${JSON.stringify(path)}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}

function sanitized(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
