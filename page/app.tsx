/** App: the frame around the views: who is shown, the search, the connection, the theme, and the keys. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PageSource } from "../src/manager/debug/page_source.ts";
import { Api, Problem } from "./data/api.ts";
import { type Connection, follow } from "./data/follow.ts";
import { Model } from "./data/model.ts";
import { Plans } from "./data/plan.ts";
import { findToken, forgetToken, keepToken } from "./data/token.ts";
import { useKeys } from "./parts/hooks.ts";
import { goTo, parseRoute, type Route, routeText, useRoute } from "./parts/route.ts";
import { type Theme, useTheme } from "./parts/theme.ts";
import { Failure, TokenForm } from "./views/gate.tsx";
import { Help } from "./views/help.tsx";
import { Objects } from "./views/objects.tsx";
import { Overview } from "./views/overview.tsx";
import { Plan } from "./views/plan.tsx";
import { Timeline } from "./views/timeline.tsx";

/** How far the page is. */
type Stage =
  | { readonly kind: "opening" }
  | { readonly kind: "token"; readonly isWrong: boolean }
  | { readonly kind: "failed"; readonly problem: Problem }
  | { readonly kind: "open"; readonly api: Api; readonly model: Model; readonly plans: Plans };

export function App() {
  const [token, setToken] = useState(findToken);
  const [stage, setStage] = useState<Stage>({ kind: "opening" });
  const [connection, setConnection] = useState<Connection>({ kind: "reading" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    void open(token, signal, setStage, setConnection);
    return () => stopping.abort();
  }, [token, attempt]);
  useEffect(() => {
    // An address with a token, pasted into this tab, loads nothing anew.
    const take = () => {
      if (!location.hash.startsWith("#token=")) return;
      setToken(findToken());
      setAttempt((count) => count + 1);
    };
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  switch (stage.kind) {
    case "opening":
      return (
        <main class="gate" aria-busy="true">
          <h1 class="hidden">Opening</h1>
        </main>
      );
    case "token":
      return (
        <TokenForm
          isWrong={stage.isWrong}
          onToken={(given) => {
            keepToken(given);
            setToken(given);
            setAttempt((count) => count + 1);
          }}
        />
      );
    case "failed":
      return <Failure problem={stage.problem} onRetry={() => setAttempt((count) => count + 1)} />;
    case "open":
      return <Frame api={stage.api} model={stage.model} plans={stage.plans} connection={connection} />;
    default:
      return stage satisfies never;
  }
}

async function open(
  token: string | undefined,
  signal: AbortSignal,
  setStage: (stage: Stage) => void,
  setConnection: (connection: Connection) => void,
): Promise<void> {
  if (token === undefined) return setStage({ kind: "token", isWrong: false });
  try {
    const api = new Api(token);
    const source = await api.get<PageSource>("debug/source", signal);
    const model = new Model(source);
    document.title = source.kind === "recording" ? `${source.file} · ${source.name}` : source.name;
    setConnection({ kind: "reading" });
    setStage({ kind: "open", api, model, plans: new Plans() });
    await follow(model, api, { signal, onConnection: setConnection });
  } catch (error) {
    if (signal.aborted) return;
    const problem = error instanceof Problem ? error : new Problem("failed", String(error));
    if (problem.kind !== "token") return setStage({ kind: "failed", problem });
    forgetToken();
    setStage({ kind: "token", isWrong: true });
  }
}

const views = [
  { key: "1", text: "Overview", route: { view: "overview" } },
  { key: "2", text: "Objects", route: { view: "objects", query: "" } },
  { key: "3", text: "Timeline", route: { view: "timeline", query: "" } },
  { key: "4", text: "Plan", route: { view: "plan" } },
] as const satisfies readonly { readonly key: string; readonly text: string; readonly route: Route }[];

interface FrameProps {
  readonly api: Api;
  readonly model: Model;
  readonly plans: Plans;
  readonly connection: Connection;
}

function Frame({ api, model, plans, connection }: FrameProps) {
  const route = useRoute();
  const [theme, changeTheme] = useTheme();
  const [isHelp, setHelp] = useState(false);
  // A recording has no plan.
  const shownViews = views.filter(({ route: { view } }) => view !== "plan" || model.source.canPlan === true);
  const search = useRef<HTMLInputElement>(null);
  const query = "query" in route ? route.query : "";
  useKeys(({ key }) => {
    const view = shownViews.find((one) => one.key === key);
    if (view !== undefined) goTo(view.route);
    else if (key === "?") setHelp(true);
    else if (key === "t") changeTheme();
    else if (key === "Escape" && !isHelp) goTo(parentOf(parseRoute(location.hash)));
  });
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      search.current?.select();
    };
    addEventListener("keydown", focusSearch);
    return () => removeEventListener("keydown", focusSearch);
  }, []);
  return (
    <>
      <header class="bar">
        <a class="brand" href="#/" title={model.source.file}>{model.source.name || "operator"}</a>
        {model.source.version === undefined ? null : <span class="pale small">{model.source.version}</span>}
        {model.source.file === undefined ? null : <span class="file small">{model.source.file.split("/").at(-1)}</span>}
        <nav aria-label="Views">
          {shownViews.map(({ key, text, route: target }) => (
            <a key={key} href={routeText(target)} aria-current={route.view === target.view ? "page" : undefined}>
              {text}
            </a>
          ))}
        </nav>
        <SearchField {...{ search, route, query }} />
        <Status connection={connection} source={model.source} />
        <button
          type="button"
          class="icon"
          title="Theme (t)"
          aria-label={`Theme: ${theme}`}
          onClick={changeTheme}
        >
          {themeIcons[theme]}
        </button>
        <button type="button" class="icon" title="Keys (?)" aria-label="Keys" onClick={() => setHelp(true)}>?</button>
      </header>
      {connection.kind === "lost" ? <LostBanner connection={connection} /> : null}
      <View {...{ route, api, model, plans }} />
      {isHelp ? <Help onClose={() => setHelp(false)} /> : null}
    </>
  );
}

const themeIcons = { light: "☀", dark: "☾", system: "◐" } as const satisfies Record<Theme, string>;

function View({ route, api, model, plans }: {
  readonly route: Route;
  readonly api: Api;
  readonly model: Model;
  readonly plans: Plans;
}) {
  switch (route.view) {
    case "overview":
      return <Overview model={model} />;
    case "plan":
      return <Plan {...{ plans, api, model }} />;
    case "objects":
      return <Objects {...{ model, api }} query={route.query} resource={route.resource} objectKey={route.key} />;
    case "timeline":
      return <Timeline model={model} api={api} query={route.query} id={route.id} />;
    default:
      return route satisfies never;
  }
}

/** Where Esc leads: from an object to the list, then to the list without a search, then to the overview. */
function parentOf(route: Route): Route {
  const { view } = route;
  if (view === "overview" || view === "plan") return { view: "overview" };
  const isDetail = view === "objects" ? route.resource !== undefined : route.id !== undefined;
  if (isDetail) return { view, query: route.query };
  return route.query === "" ? { view: "overview" } : { view, query: "" };
}

function SearchField({ search, route, query }: {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly route: Route;
  readonly query: string;
}) {
  const set = (text: string) =>
    goTo({ ...("query" in route ? route : { view: "objects" } as const), query: text }, { isStep: "query" in route });
  return (
    <div class="search">
      <input
        ref={search}
        type="search"
        placeholder={route.view === "timeline" ? "Search entries" : "Search objects"}
        aria-label={route.view === "timeline" ? "Search entries" : "Search objects"}
        value={query}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" && event.key !== "Enter") return;
          event.preventDefault();
          if (event.key === "Escape" && query !== "") set("");
          else event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}

function Status({ connection, source }: { readonly connection: Connection; readonly source: PageSource }) {
  const [text, tone] = source.kind === "recording"
    ? [connection.kind === "complete" ? "recording" : "reading", "neutral"] as const
    : ({
      reading: ["reading", "busy"],
      live: ["live", "good"],
      polling: ["live", "good"],
      lost: ["not connected", "bad"],
      complete: ["complete", "neutral"],
    } as const)[connection.kind];
  return <span class={`state tone-${tone} connection`} role="status">{text}</span>;
}

function LostBanner({ connection: { since } }: { readonly connection: Extract<Connection, { kind: "lost" }> }) {
  return (
    <div class="banner" role="alert">
      <strong>The process does not answer since {new Date(since).toLocaleTimeString("en-GB")}.</strong>{" "}
      What is shown is the state before. If it has ended, start it again and open the address that it shows; the page
      tries again every two seconds.
    </div>
  );
}
