/** One field that finds everything by any of its words: what the store holds, pages, settings, commands; and asks. */
import { CompletionsDocument, ConfigDocument, FindDocument, FlushDocument, PauseDocument, PauseWorkerDocument } from "helix-memory";
import { useCallback, useEffect, useState } from "react";
import {
  Autocomplete,
  Dialog,
  Input,
  Label,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import { useNavigate } from "react-router";

import { hrefOf, useLink } from "../address";
import { useAnswer, useChange } from "../api";
import { plain } from "../parts/text";
import { DECIDE, HAPPENED, HEALTH, VIEWS } from "./views";
import { applyTheme, isDark } from "./theme";

export function usePalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen((now) => !now);
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  return { isOpen, setOpen, open: useCallback(() => setOpen(true), []) };
}

interface Found {
  id: string;
  name: string;
  what: string;
  act: () => void;
}

export function Palette({ isOpen, setOpen }: { isOpen: boolean; setOpen: (open: boolean) => void }) {
  return (
    <ModalOverlay className="overlay palette-overlay" isOpen={isOpen} onOpenChange={setOpen} isDismissable>
      <Modal className="modal palette">
        <Dialog className="palette-dialog" aria-label="Find anything">
          <Finder close={() => setOpen(false)} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Finder({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const found = useFound(text.trim());
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField className="palette-field" aria-label="Find anything" autoFocus>
        <Label className="hidden">Find anything</Label>
        <Input placeholder="Ask, or type a word of a memory, a task, a page, a command …" />
      </SearchField>
      <Menu
        className="menu"
        aria-label="What was found"
        items={found}
        onAction={(key) => {
          close();
          found.find(({ id }) => id === key)?.act();
        }}
      >
        {(one) => (
          <MenuItem id={one.id} className="menu-item" textValue={`${one.what} ${one.name}`}>
            <span className="muted">{one.what}</span> <bdi>{one.name}</bdi>
          </MenuItem>
        )}
      </Menu>
    </Autocomplete>
  );
}

const PAGES: readonly (readonly [string, string])[] = [
  ...VIEWS.map(({ path, name }) => [name, path] as const),
  ...HEALTH.map((tab) => [`Health: ${tab}`, `/health?tab=${tab}`] as const),
  ...HAPPENED.map((tab) => [`What happened: ${tab}`, `/happened?tab=${tab}`] as const),
  ...DECIDE.map(({ id, name }) => [`To decide: ${name.toLowerCase()}`, `/decide?tab=${id}`] as const),
];

/** Everything that has each of the words, what was asked for most first. */
function useFound(asked: string): Found[] {
  const navigate = useNavigate();
  const link = useLink();
  const commands = useCommands();
  const words = asked.toLowerCase().split(/\s+/);
  const fits = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const when = asked !== "";
  const held = useAnswer(FindDocument, { text: asked, limit: 5 }, { when });
  const scopes = useAnswer(CompletionsDocument, { of: "SCOPES", limit: 200 }, { when });
  const settings = useAnswer(ConfigDocument, {}, { when });
  const go = (what: string, name: string, to: string): Found => ({ id: `${what} ${to}`, name, what, act: () => void navigate(to) });
  const pages = PAGES.filter(([name]) => fits(`${name} page view`)).map(([name, path]) => {
    const [to = path, tab] = path.split("?tab=");
    return go("page", name, link(to, { tab }));
  });
  const done = commands.filter(({ name, also }) => fits(`${name} ${also}`)).map((one) => ({ ...one, id: one.name, what: "do" }));
  if (!when) return [...pages.slice(0, VIEWS.length), ...done];
  return [
    go("ask", asked, link("/", { q: asked })),
    ...(held.data ?? []).map((node) => go(plain(node.ref.label === "REFLECTION" ? "INSIGHT" : node.ref.label), node.title, hrefOf(node, link))),
    ...done,
    ...pages.slice(0, 8),
    ...(scopes.data ?? []).filter(fits).slice(0, 4).map((scope) => go("scope", scope, link("/", { scope }))),
    ...(settings.data ?? [])
      .filter(({ name, help }) => fits(`${name} ${help} setting`))
      .slice(0, 4)
      .map(({ name }) => go("setting", name, link("/health", { tab: "settings", find: name }))),
    go("walk the graph for", asked, link("/graph", { q: asked })),
  ];
}

/** What can be done from anywhere; `also` are other words for it. */
function useCommands() {
  const capture = useChange(PauseDocument, { said: (on) => (on ? "Capture is paused." : "Capture goes on.") });
  const work = useChange(PauseWorkerDocument, { said: (on) => (on ? "Background work is paused." : "Background work goes on.") });
  const flush = useChange(FlushDocument, { said: "Everything that waits is worked through now." });
  return [
    { name: "Change between light and dark", also: "theme colours", act: () => applyTheme(isDark() ? "light" : "dark") },
    { name: "Pause capture", also: "stop recording", act: () => capture.mutate({ on: true }) },
    { name: "Go on capturing", also: "capture resume recording", act: () => capture.mutate({ on: false }) },
    { name: "Pause background work", also: "stop worker", act: () => work.mutate({ on: true }) },
    { name: "Go on with background work", also: "resume worker", act: () => work.mutate({ on: false }) },
    { name: "Work through everything now", also: "flush background consolidate", act: () => flush.mutate({}) },
    { name: "Open GraphiQL", also: "api graphql queries", act: () => window.location.assign("/graphql") },
  ];
}
