/** A table of figures; a narrow screen scrolls it sideways by itself. */
export function Table({ children }: { children: React.ReactNode }) {
  return (
    <div className="scroll">
      <table className="table">{children}</table>
    </div>
  );
}
