import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store.js';
import type { About } from './about.js';
import { crumbsOf, type Crumb } from './breadcrumbs.js';
import { contextTables, type ContextTable } from './contexts.js';
import { requestOf, type ShownRequest } from './curl.js';
import { threadsOf, type ShownThread } from './threads.js';
import { FrameOwners } from '../trace/frame-owners.js';
import { FrameValues } from '../trace/frame-values.js';
import { rawTrace, traceOf, type Trace } from '../trace/trace.js';

export const occurrenceRows = ({ item, occurrences }: About): object => ({
  occurrences: { ...occurrences, items: occurrences.items.map((one, i) => occurrenceRow(one, item, i === 0)) },
});

interface Given {
  id: string;
  occurred_at: string;
  received_at: string;
  error_message: string | null;
  error_level: string | null;
  stack_trace: string | null;
  file_path: string | null;
  line_no: number | null;
  commit_sha: string | null;
  client_ref: string | null;
  tags: string[];
  context: Json;
  breadcrumbs: Json;
}

export interface OccurrenceRow {
  tags: string[];
  message: string | null;
  trace: Trace | null;
  crumbs: Crumb[];
  facts: object[];
  request: ShownRequest | null;
  threads: ShownThread[];
  tables: ContextTable[];
  has_payload: boolean;
  open: boolean;
}

/**
 * Maximum trace length, in characters, that is rendered frame by frame in a collapsed row, to limit
 * rendering time.
 */
const PARTED = 16_384;

export function occurrenceRow(occurrence: object, item: Item, open: boolean): OccurrenceRow {
  const given = occurrence as Given;
  const own = (value: string | null, shown: string | null): string | null =>
    value !== null && value !== '' && value !== shown ? value : null;
  const stack = own(given.stack_trace, item.stack_trace);
  const trace =
    stack !== null && !open && stack.length > PARTED
      ? rawTrace(stack)
      : traceOf(stack, {
          file: given.file_path,
          line: given.line_no,
          owners: new FrameOwners(given.context),
          values: new FrameValues(given.context),
        });
  const crumbs = crumbsOf(given.breadcrumbs, given.occurred_at);
  const request = requestOf(given.context);
  const threads = threadsOf(given.context);
  const tables = contextTables(given.context);
  const facts = [
    { label: 'Received', at: apart(given) ? given.received_at : null },
    { label: 'File', value: own(placeOf(given), placeOf(item)), mono: true },
    { label: 'Commit', value: own(given.commit_sha, item.commit_sha), mono: true },
    { label: 'Client reference', value: own(given.client_ref, item.client_ref), mono: true },
  ].filter((fact) => (fact.value ?? fact.at ?? null) !== null);
  const tags = JSON.stringify(given.tags) === JSON.stringify(item.tags) ? [] : given.tags;
  const has_payload =
    trace !== null ||
    crumbs.length > 0 ||
    request !== null ||
    threads.length + tables.length > 0 ||
    facts.length > 0 ||
    tags.length > 0;
  return {
    ...occurrence,
    tags,
    message: own(given.error_message, item.error_message),
    trace,
    crumbs,
    facts,
    request,
    threads,
    tables,
    has_payload,
    open,
  };
}

const apart = ({ occurred_at, received_at }: Given): boolean =>
  Date.parse(received_at) - Date.parse(occurred_at) > 60_000;

const placeOf = ({ file_path, line_no }: Pick<Given, 'file_path' | 'line_no'>): string | null =>
  file_path === null || line_no === null ? file_path : `${file_path}:${line_no}`;
