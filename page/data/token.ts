/**
 * The token of the page: from the fragment of the address that the program shows, then from the memory of this tab.
 *
 * Guarantees: it leaves the address bar at once; browsers send no fragment to a server; another tab does not have it.
 */
const key = "token";

/** The token; undefined if the user must give it. */
export function findToken(): string | undefined {
  const [, given] = /^#token=([\x21-\x7e]+)$/.exec(location.hash) ?? [];
  if (given !== undefined) {
    sessionStorage.setItem(key, given);
    history.replaceState(null, "", "#/");
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
  return sessionStorage.getItem(key) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(key, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(key);
}
