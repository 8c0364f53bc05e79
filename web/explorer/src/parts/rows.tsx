/** A list of any length: only what can be seen is drawn, and the next page is read when its end comes near. */
import { useCallback } from "react";
import { GridList, GridListItem, GridListLoadMoreItem, ListLayout, Virtualizer } from "react-aria-components";

interface Item {
  id: string;
}

export function Rows<T extends Item>({
  items,
  label,
  more,
  hasMore,
  height = 64,
  onOpen,
  textOf,
  children,
}: {
  items: readonly T[];
  label: string;
  more?: () => void;
  hasMore?: boolean;
  /** Pixels of a row. */
  height?: number;
  onOpen: (item: T) => void;
  textOf: (item: T) => string;
  children: (item: T) => React.ReactNode;
}) {
  const open = useCallback(
    (key: React.Key) => {
      const found = items.find(({ id }) => id === key);
      if (found) onOpen(found);
    },
    [items, onOpen],
  );
  return (
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: height }}>
      <GridList className="rows" aria-label={label} selectionMode="none" onAction={open}>
        {items.map((item) => (
          <GridListItem key={item.id} id={item.id} className="row-item" textValue={textOf(item)}>
            {children(item)}
          </GridListItem>
        ))}
        {hasMore && (
          <GridListLoadMoreItem className="state" onLoadMore={more} isLoading>
            Reading more …
          </GridListLoadMoreItem>
        )}
      </GridList>
    </Virtualizer>
  );
}
