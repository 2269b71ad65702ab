/** What is shown when there is no view: the question for the token, and failures with what to do. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../data/api.ts";
import { Message } from "../parts/bits.tsx";

/** Asks for the token. */
export function TokenForm({ isWrong, onToken }: {
  readonly isWrong: boolean;
  readonly onToken: (token: string) => void;
}) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <main class="gate">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") onToken(text.trim());
        }}
      >
        <h1>{isWrong ? "That token is not the one" : "This page needs a token"}</h1>
        <p role={isWrong ? "alert" : undefined}>
          {isWrong
            ? "The server did not accept it. A process that was started again may have another one."
            : "The objects of a cluster are not for everyone on this machine."}
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">Open</button>
        <p class="pale small">
          The program shows an address with the token on its terminal. With{" "}
          <code>--debug-token-file</code>, the token is the content of that file.
        </p>
      </form>
    </main>
  );
}

/** A failure of the first request. */
export function Failure({ problem, onRetry }: { readonly problem: Problem; readonly onRetry: () => void }) {
  const { title, advice } = textsOf(problem);
  return (
    <main class="gate">
      <div class="card">
        <Message title={title} isAlert>
          <p>{problem.message}.</p>
          <p>{advice}</p>
        </Message>
        <button type="button" class="primary" onClick={onRetry}>Try again</button>
      </div>
    </main>
  );
}

function textsOf({ kind }: Problem): { readonly title: string; readonly advice: string } {
  switch (kind) {
    case "forbidden":
      return {
        title: "The server refuses this page",
        advice: "Open it under the address that the program shows: a loopback address, without another page around it.",
      };
    case "gone":
      return {
        title: "The server does not answer",
        advice: "Is the program still running? Start it again, and open the address that it shows then.",
      };
    case "missing":
      return {
        title: "This is no debug endpoint",
        advice: "The program may be of an older version. Use one of the same version as this page.",
      };
    default:
      return { title: "The server could not answer", advice: "Its log says more. Try again in a moment." };
  }
}
