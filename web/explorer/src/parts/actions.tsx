/** What a person can do with a memory, wherever it is shown. */
import {
  ConfirmDocument,
  EdgeDocument,
  EditDocument,
  FeedbackDocument,
  ForgetDocument,
  HistoryDocument,
  RestoreDocument,
  RevertDocument,
} from "helix-memory";
import type { GraphEdgeFragment, Kind, MemoryFragment } from "helix-memory";
import { useState } from "react";
import { Button, Form } from "react-aria-components";
import { useNavigate } from "react-router";

import { helix, useAnswer, useChange } from "../api";
import { Field, FormButtons, Opens, Pick } from "./controls";
import { Changes } from "./diff";
import { plain } from "./text";

export const KINDS: readonly Kind[] = [
  "FAILURE",
  "CONVENTION",
  "DECISION",
  "FACT",
  "PATTERN",
  "SYSTEMIC",
  "EVOLUTION",
  "PREFERENCE",
  "IDENTITY",
  "PROJECT",
  "ENTITY",
  "SNIPPET",
  "GAP",
];

export function Actions({ memory }: { memory: MemoryFragment }) {
  const nameOrId = memory.id;
  const revert = () => helix.run(RevertDocument, { nameOrId });
  const confirm = useChange(ConfirmDocument, { said: `You confirmed ${memory.name}.`, undo: revert });
  const forget = useChange(ForgetDocument, {
    said: `${memory.name} is out of recall.`,
    undo: () => helix.run(RestoreDocument, { nameOrId }),
  });
  const restore = useChange(RestoreDocument, {
    said: `${memory.name} is back in recall.`,
    undo: revert,
  });
  const feedback = useChange(FeedbackDocument, {
    said: (_, { delta }) => `Noted that ${memory.name} ${(delta ?? 0) > 0 ? "helped" : "did not help"}.`,
    undo: () => helix.run(FeedbackDocument, { names: [nameOrId], undo: true }),
  });
  const gone = memory.status !== "ACTIVE";
  const [editing, setEditing] = useState(false); // whoever writes goes on, though another writes a new version meanwhile
  return (
    <div className="actions" role="group" aria-label={`What to do with ${memory.name}`}>
      {!gone && memory.saidBy !== "you" && (
        <Button className="button quiet" onPress={() => confirm.mutate({ nameOrId })}>
          Confirm
        </Button>
      )}
      {(!gone || editing) && (
        <Opens button="Edit" title={`Edit ${memory.name}`} onOpen={setEditing}>
          {(close) => <EditForm memory={memory} close={close} />}
        </Opens>
      )}
      {gone ? (
        <Button className="button quiet" onPress={() => restore.mutate({ nameOrId })}>
          Restore
        </Button>
      ) : (
        <>
          <Button className="button quiet" onPress={() => feedback.mutate({ names: [nameOrId], delta: 0.5 })}>
            Helped
          </Button>
          <Button className="button quiet" onPress={() => feedback.mutate({ names: [nameOrId], delta: -0.5 })}>
            Did not help
          </Button>
          <Relate memory={memory} />
          <Button className="button quiet" onPress={() => forget.mutate({ nameOrId })}>
            Forget
          </Button>
        </>
      )}
    </div>
  );
}

/** Returns the newest version of a memory, of which a page may show an old one. */
function useNewest(memory: MemoryFragment): MemoryFragment {
  const old = memory.status === "RETIRED";
  const history = useAnswer(HistoryDocument, { nameOrId: memory.id, first: 1 }, { when: old, keep: false });
  return history.data?.edges[0]?.node.memory ?? memory;
}

type Said = Pick<MemoryFragment, "trigger" | "resolution" | "kind">;

/** Returns what is said otherwise than a version says it. */
const besides = (said: Partial<Said>, version: Said): Partial<Said> =>
  Object.fromEntries(Object.entries(said).filter(([field, words]) => words !== version[field as keyof Said]));

/** Edits the newest version, also of a memory that is changed meanwhile: what was not typed here stays as that says it. */
function EditForm({ memory, close }: { memory: MemoryFragment; close: () => void }) {
  const newest = useNewest(memory);
  const [began] = useState(newest.id);
  const [typed, setTyped] = useState<Partial<Said>>({});
  const type = (words: Partial<Said>) => setTyped((before) => besides({ ...before, ...words }, newest));
  const edit = useEdit(newest, close, memory.id);
  const changed = besides(typed, newest);
  const same = Object.keys(changed).length === 0;
  const { trigger, resolution, kind } = { ...newest, ...changed };
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        edit.mutate({ nameOrId: newest.id, ...changed });
      }}
    >
      <Field label="When (what it is about)" value={trigger} onChange={(trigger) => type({ trigger })} lines={4} autoFocus isRequired />
      <Field label="What (what to do or to know)" value={resolution} onChange={(resolution) => type({ resolution })} lines={5} />
      <Pick
        label="Kind"
        value={kind}
        choices={KINDS.map((id) => ({ id, label: plain(id) }))}
        onChange={(id) => type({ kind: id as Kind })}
      />
      {newest.id !== began && <p role="status">This memory was changed meanwhile; what you save changes its newest version.</p>}
      {!same && (
        <section aria-label="What changes">
          <Changes before={newest.trigger} after={trigger} />
          <Changes before={newest.resolution} after={resolution} />
        </section>
      )}
      <FormButtons does="Save a new version" close={close} isDisabled={same || !trigger.trim() || edit.isPending} />
    </Form>
  );
}

/** Gives a memory a new version; the address, which may name an older one, goes along, there and back. */
export function useEdit(memory: MemoryFragment, close?: () => void, shown = memory.id) {
  const follow = useFollowing();
  const { trigger, resolution, kind } = memory;
  return useChange(EditDocument, {
    said: `${memory.name} has a new version.`,
    undo: (now) =>
      helix.run(EditDocument, { nameOrId: now.id, trigger, resolution, kind }).then((again) => follow(now.id, again.id)),
    onDone: (now) => {
      close?.();
      follow(shown, now.id);
    },
  });
}

/** Has the address name the new version of a memory wherever it names the one before. */
function useFollowing() {
  const navigate = useNavigate();
  return (before: string, now: string) => {
    const { pathname, search } = window.location;
    const there = (pathname + search).replaceAll(before, now);
    if (there !== pathname + search) void navigate(there, { replace: true });
  };
}

/** Takes back an edge that was drawn by hand, word by word where it has several. */
export function TakeBack({ edge }: { edge: GraphEdgeFragment }) {
  const take = useChange(EdgeDocument, {
    said: (_, { relation }) => `The edge “${plain(relation)}” is taken back.`,
    undo: (_, asked) => helix.run(EdgeDocument, { ...asked, undo: false }),
  });
  if (!edge.drawn) return null;
  return (
    <div className="row">
      {edge.relation.split(", ").map((relation) => (
        <Button
          key={relation}
          className="button quiet"
          isDisabled={take.isPending}
          onPress={() => take.mutate({ source: edge.source.id, target: edge.target.id, relation, undo: true })}
        >
          Take back “{plain(relation)}”
        </Button>
      ))}
    </div>
  );
}

const RELATIONS = ["SOLVES", "CAUSES", "DEPENDS_ON", "CONTRADICTS", "DECIDED_BY", "SIMILAR", "CO_OCCURS", "RELATED"];

function Relate({ memory }: { memory: MemoryFragment }) {
  return (
    <Opens button="Relate" title={`Relate ${memory.name} to another memory`}>
      {(close) => <RelateForm memory={memory} close={close} />}
    </Opens>
  );
}

function RelateForm({ memory, close }: { memory: MemoryFragment; close: () => void }) {
  const [relation, setRelation] = useState("SOLVES");
  const [target, setTarget] = useState("");
  const edge = useChange(EdgeDocument, {
    said: `${memory.name} is related to ${target}: ${plain(relation)}.`,
    undo: (_, asked) => helix.run(EdgeDocument, { ...asked, undo: true }),
    onDone: close,
  });
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        edge.mutate({ source: memory.id, target: target.trim(), relation });
      }}
    >
      <Pick
        label={`${memory.name} …`}
        value={relation}
        choices={RELATIONS.map((id) => ({ id, label: plain(id) }))}
        onChange={setRelation}
      />
      <Field label="The other memory's name or id" value={target} onChange={setTarget} autoFocus isRequired />
      <FormButtons does="Draw the edge" close={close} isDisabled={!target.trim() || edge.isPending} />
    </Form>
  );
}
