/** Bringing memories along, and taking them elsewhere, with progress. */
import {
  BackupDocument,
  ExportGraphmlDocument,
  ExportJsonlDocument,
  ExportMarkdownDocument,
  ImportMemoriesDocument,
  IngestGitDocument,
  IngestNotesDocument,
  IngestTranscriptDocument,
} from "helix-memory";
import type { JobFragment } from "helix-memory";
import { useState } from "react";
import { Button, Checkbox, Form } from "react-aria-components";

import { useScope } from "../address";
import { useChange } from "../api";
import { Field, Pick } from "../parts/controls";
import { Jobs } from "./Health";

export function Transfer() {
  return (
    <div className="page two">
      <div>
        <h1>Import and export</h1>
        <Import />
        <Export />
      </div>
      <section aria-label="Jobs">
        <h2>Jobs</h2>
        <Jobs first={10} />
      </section>
    </div>
  );
}

const SOURCES = [
  { id: "git", label: "the history of a git repository" },
  { id: "notes", label: "notes of a project (Markdown)" },
  { id: "transcript", label: "histories of Claude Code, Codex, Gemini CLI or opencode" },
  { id: "import", label: "another memory: an export, a vault, a database" },
];

const begun = (job: JobFragment): string => `Begun: ${job.kind.toLowerCase().replaceAll("_", " ")}.`;

function Import() {
  const scope = useScope();
  const [source, setSource] = useState("git");
  const [path, setPath] = useState("");
  const [plan, setPlan] = useState(true);
  const [mine, setMine] = useState(false);
  const git = useChange(IngestGitDocument, { said: begun });
  const notes = useChange(IngestNotesDocument, { said: begun });
  const transcript = useChange(IngestTranscriptDocument, { said: begun });
  const memories = useChange(ImportMemoriesDocument, { said: begun });
  const start = () => {
    if (source === "git") git.mutate({ path, scope });
    else if (source === "notes") notes.mutate({ paths: [path], scope, mine });
    else if (source === "transcript") transcript.mutate({ path, scope });
    else memories.mutate({ path, scope, plan, mine });
  };
  return (
    <section aria-labelledby="import">
      <h2 id="import">Bring memories along</h2>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <Pick label="From" value={source} choices={SOURCES} onChange={setSource} />
        <Field label="Path on this machine" value={path} onChange={setPath} isRequired placeholder="/home/me/project" />
        {source === "import" && (
          <Checkbox className="check" isSelected={plan} onChange={setPlan}>
            <span className="box" aria-hidden="true" /> only say what would come in
          </Checkbox>
        )}
        {(source === "import" || source === "notes") && (
          <Checkbox className="check" isSelected={mine} onChange={setMine}>
            <span className="box" aria-hidden="true" /> I stand for what is in it
          </Checkbox>
        )}
        <p className="small muted">
          {scope ? `It goes into the scope ${scope}.` : "It goes into the scope of its project."} Secrets are redacted, and the same is never taken in twice.
        </p>
        <Button className="button primary" type="submit" isDisabled={!path.trim()}>
          {source === "import" && plan ? "Show the plan" : "Take it in"}
        </Button>
      </Form>
    </section>
  );
}

const FORMS = [
  { id: "markdown", label: "Markdown: a note for each memory" },
  { id: "jsonl", label: "JSON lines: everything, without loss" },
  { id: "graphml", label: "GraphML: for graph tools" },
  { id: "backup", label: "a backup of the store" },
];

function Export() {
  const [form, setForm] = useState("markdown");
  const [path, setPath] = useState("");
  const changes = {
    markdown: useChange(ExportMarkdownDocument, { said: begun }),
    jsonl: useChange(ExportJsonlDocument, { said: begun }),
    graphml: useChange(ExportGraphmlDocument, { said: begun }),
    backup: useChange(BackupDocument, { said: begun }),
  };
  return (
    <section aria-labelledby="export">
      <h2 id="export">Take memories elsewhere</h2>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          changes[form as keyof typeof changes].mutate({ path });
        }}
      >
        <Pick label="As" value={form} choices={FORMS} onChange={setForm} />
        <Field label={form === "markdown" ? "Folder on this machine" : "File on this machine"} value={path} onChange={setPath} isRequired />
        <Button className="button primary" type="submit" isDisabled={!path.trim()}>
          Write it
        </Button>
      </Form>
    </section>
  );
}
