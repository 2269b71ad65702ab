/** The address of a view is in the fragment: `#/objects/deployments.apps/default/web?q=web`. */
import { useLayoutEffect, useState } from "preact/hooks";

/** What is shown. */
export type Route =
  | { readonly view: "overview" }
  | { readonly view: "plan" }
  | { readonly view: "objects"; readonly resource?: string; readonly key?: string; readonly query: string }
  | { readonly view: "timeline"; readonly id?: number; readonly query: string };

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  const query = new URLSearchParams(search).get("q") ?? "";
  const [view, ...parts] = path.split("/").map(decoded);
  if (view === "objects") {
    const [resource, ...key] = parts;
    return resource && key.length > 0 ? { view, resource, key: key.join("/"), query } : { view, query };
  }
  if (view === "timeline") {
    const id = Number(parts[0]);
    return Number.isSafeInteger(id) && id > 0 ? { view, id, query } : { view, query };
  }
  return { view: view === "plan" ? "plan" : "overview" };
}

export function routeText(route: Route): string {
  const query = "query" in route && route.query !== "" ? `?${new URLSearchParams({ q: route.query })}` : "";
  switch (route.view) {
    case "overview":
      return "#/";
    case "plan":
      return "#/plan";
    case "objects": {
      const { resource, key } = route;
      const object = resource === undefined || key === undefined
        ? ""
        : `/${[resource, ...key.split("/")].map(encodeURIComponent).join("/")}`;
      return `#/objects${object}${query}`;
    }
    case "timeline":
      return `#/timeline${route.id === undefined ? "" : `/${route.id}`}${query}`;
    default:
      return route satisfies never;
  }
}

/** The address of an object. */
export function objectLink(resource: string, key: string): string {
  return routeText({ view: "objects", resource, key, query: "" });
}

/** Shows another view. `isStep` does not add to the history of the browser, as for each key press in a list. */
export function goTo(route: Route, { isStep = false }: { readonly isStep?: boolean } = {}): void {
  const hash = routeText(route);
  if (hash === location.hash) return;
  if (!isStep) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useLayoutEffect(() => {
    const update = () => setHash(location.hash);
    // The address may have changed since the first line of this function.
    update();
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return parseRoute(hash);
}

/** A text that is no encoding stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
