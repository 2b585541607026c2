/**
 * What everybody else on this connection learns of a write, in one place: the recent documents, the lists that are read
 * ahead, the look-ups, and the work that is left for the background. Each kind of write tells all four.
 */
import type { Doc } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import type { RecentDoc } from '../kept/recent.js';
import { noteForLookups } from '../lookups/lookups.js';

/** A new row. */
export interface Inserted {
  kind: 'inserted';
  id: string;
  /** Null: no field of it is indexed, and nobody has parsed it. */
  doc: Doc | null;
  /** Characters of its body. */
  length: number;
  /** The document has fields that are compressed, which `doc` lacks. */
  isPart: boolean;
}

/** A row that holds another document now. */
export interface Replaced {
  kind: 'replaced';
  id: string;
  /** Its later columns are behind the body. */
  behind: boolean;
}

/** A row whose document was changed. */
export interface ChangedRow {
  kind: 'changed';
  /** The document as it is now. */
  doc: Doc;
  kept: RecentDoc;
  /** Characters of its body. */
  length: number;
  /** By its id, as what is changed again and again; what is taken from a list is seldom changed again soon. */
  isNamed: boolean;
  behind: boolean;
  isTouched: (path: string) => boolean;
  /** Another value of a look-up. */
  isFoundElsewhere: boolean;
}

/** Rows that are gone. */
export interface Removed {
  kind: 'removed';
  /** Known where the collection has look-ups. */
  ids: readonly string[];
}

/** To be called once after each statement that has written rows of `table`. */
export function afterWrite(
  connection: Connection,
  table: Table,
  written: Inserted | Replaced | ChangedRow | Removed,
): void {
  const { name } = table;
  const { recent, readAhead, backlog } = connection;
  const toBeFound = (id: string): void => {
    if (table.lookups.length > 0) noteForLookups(connection, table, id);
  };
  switch (written.kind) {
    case 'inserted': {
      const { id, doc, length, isPart } = written;
      if (doc !== null && !isPart) recent.added(name, id, doc, length, table.insertsLater);
      if (doc !== null) readAhead.inserted(name, doc);
      toBeFound(id);
      if (table.insertsLater) backlog.add(name);
      return;
    }
    case 'replaced':
      recent.drop(name, written.id);
      readAhead.drop(name);
      toBeFound(written.id);
      if (written.behind) backlog.add(name);
      return;
    case 'changed': {
      const { doc, kept, length, isNamed, behind, isTouched, isFoundElsewhere } = written;
      kept.doc = doc;
      if (behind) kept.marked = recent.catchUps;
      if (isNamed) recent.set(name, doc.id, kept, length);
      else recent.drop(name, doc.id);
      readAhead.changed(name, doc, isTouched);
      if (isFoundElsewhere) toBeFound(doc.id);
      if (behind) backlog.add(name);
      return;
    }
    case 'removed':
      recent.clear();
      readAhead.drop(name);
      for (const id of written.ids) toBeFound(id);
  }
}
