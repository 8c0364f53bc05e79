/** A table of figures; a narrow screen scrolls it sideways by itself, by its keys too. */
export function Table({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="scroll" role="group" aria-label={label} tabIndex={0}>
      <table className="table">{children}</table>
    </div>
  );
}
