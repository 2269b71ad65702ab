/** The keys of the page, in a dialog. */
import { useEffect, useRef } from "preact/hooks";

const keys = [
  ["/", "search"],
  ["j  k", "next and previous line"],
  ["Enter", "open the selected line"],
  ["←  →", "fold and unfold owned objects"],
  ["[  ]", "the cause and the effect of an entry"],
  ["1  2  3  4", "overview, objects, timeline, plan"],
  ["t", "dark, light, as the system"],
  ["Esc", "back"],
  ["?", "this help"],
] as const;

export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-body">
        <h2 id="help">Keys</h2>
        <dl class="keys">
          {keys.map(([key, about]) => (
            <div key={key}>
              <dt>{key.split("  ").map((one) => <kbd key={one}>{one}</kbd>)}</dt>
              <dd>{about}</dd>
            </div>
          ))}
        </dl>
        <button type="button" onClick={() => dialog.current?.close()}>Close</button>
      </div>
    </dialog>
  );
}
