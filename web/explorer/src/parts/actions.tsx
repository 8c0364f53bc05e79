/** What a person can do with a memory, wherever it is shown. */
import {
  ConfirmDocument,
  EdgeDocument,
  EditDocument,
  FeedbackDocument,
  ForgetDocument,
  RestoreDocument,
  RevertDocument,
} from "helix-memory";
import type { GraphEdgeFragment, Kind, MemoryFragment } from "helix-memory";
import { useState } from "react";
import { Button, Form } from "react-aria-components";
import { useNavigate } from "react-router";

import { helix, useChange } from "../api";
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
  return (
    <div className="actions" role="group" aria-label={`What to do with ${memory.name}`}>
      {!gone && memory.saidBy !== "you" && (
        <Button className="button quiet" onPress={() => confirm.mutate({ nameOrId })}>
          Confirm
        </Button>
      )}
      {!gone && <Edit memory={memory} />}
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

function Edit({ memory }: { memory: MemoryFragment }) {
  return (
    <Opens button="Edit" title={`Edit ${memory.name}`}>
      {(close) => <EditForm memory={memory} close={close} />}
    </Opens>
  );
}

function EditForm({ memory, close }: { memory: MemoryFragment; close: () => void }) {
  const [trigger, setTrigger] = useState(memory.trigger);
  const [resolution, setResolution] = useState(memory.resolution);
  const [kind, setKind] = useState<Kind>(memory.kind);
  const edit = useEdit(memory, close);
  const same = trigger === memory.trigger && resolution === memory.resolution && kind === memory.kind;
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        edit.mutate({ nameOrId: memory.id, trigger, resolution, kind });
      }}
    >
      <Field label="When (what it is about)" value={trigger} onChange={setTrigger} lines={4} autoFocus isRequired />
      <Field label="What (what to do or to know)" value={resolution} onChange={setResolution} lines={5} />
      <Pick
        label="Kind"
        value={kind}
        choices={KINDS.map((id) => ({ id, label: plain(id) }))}
        onChange={(id) => setKind(id as Kind)}
      />
      {!same && (
        <section aria-label="What changes">
          <Changes before={memory.trigger} after={trigger} />
          <Changes before={memory.resolution} after={resolution} />
        </section>
      )}
      <FormButtons does="Save a new version" close={close} isDisabled={same || !trigger.trim() || edit.isPending} />
    </Form>
  );
}

/** Gives a memory a new version; the address goes along, there and back. */
export function useEdit(memory: MemoryFragment, close?: () => void) {
  const follow = useFollowing();
  const { id, trigger, resolution, kind } = memory;
  return useChange(EditDocument, {
    said: `${memory.name} has a new version.`,
    undo: (now) =>
      helix.run(EditDocument, { nameOrId: now.id, trigger, resolution, kind }).then((again) => follow(now.id, again.id)),
    onDone: (now) => {
      close?.();
      follow(id, now.id);
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
