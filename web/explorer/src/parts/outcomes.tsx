/** What came of a memory, period by period: bars stacked by outcome. */
export interface Period {
  start: string;
  shown: number;
  helped: number;
  failed: number;
  unused: number;
}

export function OutcomeBars({ periods }: { periods: readonly Period[] }) {
  const most = Math.max(1, ...periods.map(({ shown }) => shown));
  return (
    <figure className="outcome-bars">
      <svg viewBox={`0 0 ${Math.max(1, periods.length) * 12} 60`} preserveAspectRatio="none" style={{ maxWidth: periods.length * 36 }} role="img" aria-label={said(periods)}>
        {periods.map(({ start, shown, helped, failed, unused }, place) => {
          const parts = [
            { kind: "helped", size: helped },
            { kind: "failed", size: failed },
            { kind: "unused", size: unused },
            { kind: "open", size: Math.max(0, shown - helped - failed - unused) },
          ];
          let top = 60;
          return (
            <g key={start}>
              {parts.map(({ kind, size }) => {
                const height = (58 * size) / most;
                top -= height;
                return <rect key={kind} className={`outcome-${kind}`} x={place * 12 + 1} width="10" y={top} height={height} />;
              })}
            </g>
          );
        })}
      </svg>
      <figcaption className="small muted">
        {periods[0] && `${periods[0].start.slice(0, 10)} to ${periods.at(-1)?.start.slice(0, 10) ?? ""}: `}
        <span className="key outcome-helped">went well with it</span> <span className="key outcome-failed">did not</span>{" "}
        <span className="key outcome-unused">made no use of it</span> <span className="key outcome-open">open</span>
      </figcaption>
    </figure>
  );
}

const said = (periods: readonly Period[]): string =>
  periods
    .filter(({ shown }) => shown)
    .map(({ start, shown, helped, failed }) => `${start.slice(0, 10)}: shown ${shown}, helped ${helped}, failed ${failed}`)
    .join("; ") || "never shown";
