/** Short words at the edge of the page about what was done, each with a way to take it back. */
import {
  Button,
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";

interface Said {
  words: string;
  kind: "done" | "wrong";
  action?: { label: string; act: () => Promise<unknown> } | undefined;
}

const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 });

/** Says something for 8 seconds; an error stays until it is closed. */
export function tell(words: string, action?: Said["action"], kind: Said["kind"] = "done"): void {
  queue.add({ words, kind, action }, kind === "done" ? { timeout: 8_000 } : {});
}

export function Toasts() {
  return (
    <ToastRegion queue={queue} className="toasts" aria-label="What was done">
      {({ toast }) => (
        <Toast toast={toast} className={`toast ${toast.content.kind}`}>
          <ToastContent>
            <Text slot="title">{toast.content.words}</Text>
          </ToastContent>
          {toast.content.action && (
            <Button
              className="button quiet"
              onPress={() => {
                queue.close(toast.key);
                toast.content.action?.act().catch((error: Error) => tell(error.message, undefined, "wrong"));
              }}
            >
              {toast.content.action.label}
            </Button>
          )}
          <Button slot="close" className="button quiet icon" aria-label="Close">
            ✕
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
