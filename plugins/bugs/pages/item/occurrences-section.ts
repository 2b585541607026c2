import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store/index.js';
import { buildEventsUrl, getEventsPage } from './events-url.js';
import type { ItemSectionInput } from './section.js';
import { buildTimeline, type TimelineEntry } from './breadcrumb-timeline.js';
import { buildContextTables, type ContextTable } from './context-tables.js';
import { buildRequestView, type RequestView } from './request-curl.js';
import { buildThreadViews, type ThreadView } from './thread-views.js';
import { FrameOwnerIndex } from '../trace/frame-owners.js';
import { FrameValueIndex } from '../trace/frame-values.js';
import { buildTrace, type TraceView } from '../trace/trace-view.js';

export function buildOccurrencesSection(about: ItemSectionInput): object {
  const { item, event: view } = about;
  const here = getEventsPage(about);
  const link = (slot: number | null): string | null =>
    slot === null ? null : buildEventsUrl(here, here.where, '#occurrences', slot);
  return {
    event: view.event && buildOccurrenceRow(view.event, item),
    pager: { position: view.position, total: view.total, newer: link(view.newer), older: link(view.older) },
  };
}

interface OccurrenceView {
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
  trace: TraceView | null;
  crumbs: TimelineEntry[];
  facts: object[];
  request: RequestView | null;
  threads: ThreadView[];
  tables: ContextTable[];
  has_payload: boolean;
}

export function buildOccurrenceRow(occurrence: object, item: Item): OccurrenceRow {
  const given = occurrence as OccurrenceView;
  const own = (value: string | null, shown: string | null): string | null =>
    value !== null && value !== '' && value !== shown ? value : null;
  const stack = own(given.stack_trace, item.stack_trace);
  const trace = buildTrace(stack, {
    file: given.file_path,
    line: given.line_no,
    owners: new FrameOwnerIndex(given.context),
    values: new FrameValueIndex(given.context),
  });
  const crumbs = buildTimeline(given.breadcrumbs, given.occurred_at);
  const request = buildRequestView(given.context);
  const threads = buildThreadViews(given.context);
  const tables = buildContextTables(given.context);
  const facts = [
    { label: 'Received', at: isLate(given) ? given.received_at : null },
    { label: 'File', value: own(formatLocation(given), formatLocation(item)), mono: true },
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
  };
}

const isLate = ({ occurred_at, received_at }: OccurrenceView): boolean =>
  Date.parse(received_at) - Date.parse(occurred_at) > 60_000;

const formatLocation = ({ file_path, line_no }: Pick<OccurrenceView, 'file_path' | 'line_no'>): string | null =>
  file_path === null || line_no === null ? file_path : `${file_path}:${line_no}`;
