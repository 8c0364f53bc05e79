/** A tab; the one that is chosen is scrolled into sight, where a narrow screen does not show all of them. */
import { useEffect, useRef } from "react";
import { Tab } from "react-aria-components";

export function ViewTab({ id, children }: { id: string; children: React.ReactNode }) {
  return (
    <Tab id={id} className="tab">
      {({ isSelected }) => <InSight when={isSelected}>{children}</InSight>}
    </Tab>
  );
}

function InSight({ when, children }: { when: boolean; children: React.ReactNode }) {
  const own = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (when) own.current?.parentElement?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [when]);
  return (
    <span ref={own} className="tab-words">
      {children}
    </span>
  );
}
