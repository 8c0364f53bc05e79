/** What is open beside a list. It takes the focus from what opened it; Escape or its button close it and give it back. */
import { useEffect, useRef } from "react";
import { Button } from "react-aria-components";

export function Panel({ of, label, close, children }: { of: string; label: string; close: () => void; children: React.ReactNode }) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    if (!(before instanceof HTMLElement) || before === document.body) return; // the page begins with it open
    box.current?.focus({ preventScroll: true });
    return () => {
      if (document.activeElement === document.body) (before.isConnected ? before : document.getElementById("main"))?.focus();
    };
  }, [of]);
  return (
    <aside
      className="detail-panel"
      aria-label={label}
      ref={box}
      tabIndex={-1}
      onKeyDown={(event) => event.key === "Escape" && !event.defaultPrevented && close()}
    >
      <div className="row end">
        <Button className="button quiet icon" aria-label="Close" onPress={close}>
          ✕
        </Button>
      </div>
      {children}
    </aside>
  );
}
