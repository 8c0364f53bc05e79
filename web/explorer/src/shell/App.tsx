/** The frame around every view: where one is, what waits, which scope is looked at, and whether the daemon answers. */
import { useEffect, useRef } from "react";
import { Button, Link } from "react-aria-components";
import { Outlet, useLocation } from "react-router";
import { CompletionsDocument, HealthDocument, InboxDocument } from "helix-memory";

import { useAnswer } from "../api";
import { useAddress, useLink, useScope } from "../address";
import { Live, useConnection } from "../live";
import { Pick } from "../parts/controls";
import { Palette, usePalette } from "./Palette";
import { applyTheme, isDark } from "./theme";
import { Toasts } from "./toasts";
import { VIEWS } from "./views";

export function App() {
  return (
    <Live>
      <Frame />
      <Toasts />
    </Live>
  );
}

const isAt = (path: string, at: string) =>
  path === "/"
    ? at === "/" || at.startsWith("/memory/")
    : at === path || at.startsWith(`${path}/`) || (path === "/happened" && /^\/(plans|tasks)\//.test(at));

function Frame() {
  const { pathname } = useLocation();
  const link = useLink();
  const scope = useScope();
  const palette = usePalette();
  const inbox = useAnswer(InboxDocument, { scope }, { every: 60_000 });
  const waits = inbox.data ? Object.values(inbox.data).filter((n) => typeof n === "number").reduce((a, b) => a + b, 0) : 0;
  const main = useRef<HTMLElement>(null);
  const view = VIEWS.find(({ path }) => isAt(path, pathname));
  const current = useRef<HTMLElement>(null);
  useEffect(() => {
    current.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname]);
  useEffect(() => {
    document.title = view ? `${view.name} · Helix` : "Helix";
  }, [view]);
  return (
    <>
      <a className="skip" href="#main" onClick={() => main.current?.focus()}>
        Skip to the view
      </a>
      <header className="top">
        <Link className="brand" href={link("/")} aria-label="Helix: ask">
          <Mark />
          <span>Helix</span>
        </Link>
        <ScopePicker />
        <Button className="button palette-button" onPress={palette.open}>
          Find anything <kbd>{/Mac/.test(navigator.platform) ? "⌘" : "Ctrl"} K</kbd>
        </Button>
        <Button
          className="button quiet icon"
          aria-label="Change between light and dark"
          onPress={() => applyTheme(isDark() ? "light" : "dark")}
        >
          ◐
        </Button>
      </header>
      <nav className="nav" aria-label="Views" ref={current}>
        {VIEWS.map(({ path, name }) => (
          <Link
            key={path}
            href={link(path)}
            className="nav-link"
            aria-current={isAt(path, pathname) ? "page" : undefined}
          >
            {name}
            {path === "/decide" && waits > 0 && (
              <span className="count" aria-label={`${waits} wait`}>
                {waits}
              </span>
            )}
          </Link>
        ))}
        <a className="nav-link" href="/graphql">
          GraphiQL
        </a>
      </nav>
      <main id="main" className="main" ref={main} tabIndex={-1}>
        <Edge />
        <Outlet />
      </main>
      <Palette {...palette} />
    </>
  );
}

/** What stands above every view when something is amiss with the daemon or its store. */
function Edge() {
  const connection = useConnection();
  const health = useAnswer(HealthDocument, {}, { every: 30_000 });
  if (connection === "away")
    return (
      <p className="edge wrong" role="alert">
        Helix does not answer. What you see is as it was. This page goes on when the daemon is back: any{" "}
        <code>helix</code> command starts it.
      </p>
    );
  if (connection === "stranger")
    return (
      <p className="edge wrong" role="alert">
        Helix was started anew, or another program listens where it was. This page asks nothing there. If it does not go
        on by itself, close it and run <code>helix open</code>.
      </p>
    );
  if (health.data && health.data.issues.length > 0)
    return (
      <div className="edge" role="status">
        {health.data.issues.map((issue) => (
          <p key={issue}>{issue}</p>
        ))}
      </div>
    );
  return null;
}

function ScopePicker() {
  const scope = useScope();
  const address = useAddress();
  const scopes = useAnswer(CompletionsDocument, { of: "SCOPES", limit: 200 });
  const names = [...new Set([...(scopes.data ?? []), ...(scope ? [scope] : [])])];
  return (
    <Pick
      hideLabel
      label="Scope"
      value={scope ?? ""}
      choices={[{ id: "", label: "All scopes" }, ...names.map((id) => ({ id, label: id }))]}
      onChange={(id) => address.set({ scope: id, after: null }, { push: true })}
    />
  );
}

function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M10 5c0 8 12 8 12 16v6M22 5c0 8-12 8-12 16v6M12 9h8M12 23h8M13 16h6" />
    </svg>
  );
}
