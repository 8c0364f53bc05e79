/** One field that finds everything: views, memories by name, scopes, and whatever is asked. */
import { CompletionsDocument } from "helix-memory";
import { useCallback, useEffect, useMemo, useState } from "react";
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

import { useLink } from "../address";
import { useAnswer } from "../api";
import { VIEWS } from "./App";

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
  to: string;
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
  const navigate = useNavigate();
  const link = useLink();
  const wanted = text.trim().toLowerCase();
  const names = useAnswer(CompletionsDocument, { of: "NAMES", prefix: wanted, limit: 8 }, { when: wanted !== "" });
  const scopes = useAnswer(CompletionsDocument, { of: "SCOPES", prefix: wanted, limit: 4 }, { when: wanted !== "" });
  const found = useMemo<Found[]>(() => {
    const views = VIEWS.filter(({ name }) => name.toLowerCase().includes(wanted)).map(({ path, name }) => ({
      id: `view ${path}`,
      name,
      what: "view",
      to: link(path),
    }));
    if (!wanted) return views;
    return [
      { id: "ask", name: text.trim(), what: "ask", to: link("/", { q: text.trim() }) },
      ...(names.data ?? []).map((name) => ({
        id: `memory ${name}`,
        name,
        what: "memory",
        to: link(`/memory/${encodeURIComponent(name)}`),
      })),
      ...views,
      { id: "walk", name: text.trim(), what: "walk the graph for", to: link("/graph", { q: text.trim() }) },
      ...(scopes.data ?? []).map((scope) => ({ id: `scope ${scope}`, name: scope, what: "scope", to: link("/", { scope }) })),
    ];
  }, [wanted, text, names.data, scopes.data, link]);
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField className="palette-field" aria-label="Find anything" autoFocus>
        <Label className="hidden">Find anything</Label>
        <Input placeholder="Ask, or type a name, a scope or a view" />
      </SearchField>
      <Menu
        className="menu"
        aria-label="What was found"
        items={found}
        onAction={(key) => {
          const one = found.find(({ id }) => id === key);
          close();
          if (one) void navigate(one.to);
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
