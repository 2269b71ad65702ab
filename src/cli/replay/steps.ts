/**
 * Steps: `replay --step`. It shows each input before it is replayed, and each reconcile when it has been compared; on a
 * terminal it waits for Enter after each.
 */
import { causeTexts, changeText, type History } from "../../explain/mod.ts";
import { type Entry, printable } from "../../observe/mod.ts";
import type { Session } from "../command/mod.ts";
import { count } from "../output/mod.ts";
import { headline, timeText } from "./print_replay.ts";
import type { ComparedReconcile } from "./replay_run.ts";
import { recordedWrite } from "./replayed_requests.ts";

/** Options of {@link Steps}. */
export interface StepsOptions {
  readonly session: Session;
  readonly history: History;
  readonly isJson: boolean;
  /** The names of the controllers that are replayed. */
  readonly controllers: ReadonlySet<string>;
  /** Only this key. @default all */
  readonly key: string | undefined;
}

/** What is shown of one entry. */
interface Step {
  readonly kind: "input" | "reconcile";
  readonly entry: number;
  readonly at: number;
  readonly controller?: string;
  readonly key?: string;
  readonly text: string;
}

export class Steps {
  readonly #options: StepsOptions;
  #state: "stepping" | "running" | "ended";

  constructor(options: StepsOptions) {
    const { session: { processEnvironment: { stdin, stdout } }, isJson } = options;
    this.#options = options;
    this.#state = stdin.isTerminal && stdout.isTerminal && !isJson ? "stepping" : "running";
  }

  /** True when the user has ended the replay. */
  get isEnded(): boolean {
    return this.#state === "ended";
  }

  /** Shows an input. */
  async showEntry(entry: Entry): Promise<void> {
    const { controllers, key } = this.#options;
    if (entry.controller !== undefined && !controllers.has(entry.controller)) return;
    if (key !== undefined && entry.key !== undefined && entry.key !== key) return;
    const text = this.#textOf(entry);
    if (text === undefined) return;
    const { id, at, controller } = entry;
    await this.#show({
      ...{ kind: "input", entry: id, at, text },
      ...(controller === undefined ? {} : { controller }),
      ...(entry.key === undefined ? {} : { key: entry.key }),
    });
  }

  /** Shows the result of a reconcile. */
  async showCompared({ recorded, difference, notCompared }: ComparedReconcile): Promise<void> {
    const { controller, key, start, end } = recorded;
    const { at } = end?.entry ?? start;
    const text = difference !== undefined
      ? headline(difference)
      : notCompared === undefined
      ? "this build does the same"
      : `not compared: ${notCompared.reason}`;
    await this.#show({ kind: "reconcile", entry: start.id, at, controller, key, text: printable(text, 600) });
  }

  async #show(step: Step): Promise<void> {
    const { session, isJson } = this.#options;
    if (this.isEnded) return;
    const { at, entry, controller, key, text } = step;
    if (isJson) return session.print(JSON.stringify({ step: step.kind, time: timeText(at), ...step, at: undefined }));
    const whose = controller === undefined ? "" : `${controller} ${printable(key ?? "")}: `;
    session.print(`${timeText(at)} ${entry} ${whose}${text}`);
    if (this.#state !== "stepping") return;
    const answer = await session.prompt("Enter: next, c: to the end, q: quit ");
    if (answer === undefined || answer.trim() === "q") this.#state = "ended";
    else if (answer.trim() === "c") this.#state = "running";
  }

  #textOf(entry: Entry): string | undefined {
    const { history } = this.#options;
    switch (entry.kind) {
      case "list":
        return printable(
          `${entry.isInitial ? "first list" : "list"} of ${entry.cache}: ${count(entry.objects, "object")}`,
          600,
        );
      case "change":
        return entry.isEcho === true || entry.isInitial === true ? undefined : changeText(entry, history);
      case "reconcile-start": {
        const causes = causeTexts(entry, history).map(({ text }) => text);
        return `reconcile, because ${causes.length === 0 ? "of something before the recording" : causes.join("; ")}`;
      }
      case "write":
      case "request": {
        const { verb, resource, key = "", subresource, path = "" } = recordedWrite(entry);
        const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
        const words = [verb, kind === "" ? path : kind, key].filter((word) => word !== "").join(" ");
        return printable(`answer to ${words}: ${answerText(entry.answer)}`, 600);
      }
      case "read":
        if (entry.from === "cache") return undefined;
        return printable(`answer to get ${entry.object.resource} ${entry.object.key ?? entry.path ?? ""}`, 600);
      default:
        return undefined;
    }
  }
}

function answerText(answer: Extract<Entry, { readonly kind: "write" | "request" }>["answer"]): string {
  return answer.kind === "failed" ? `failed, ${answer.message}` : answer.kind;
}
