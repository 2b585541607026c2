import { inject, injectable } from '../../../kernel/contract/index.js';
import { owned } from '../../../kernel/errors.js';
import type { Filter, Json, Collection } from '../../../ports/store/index.js';
import { assertCanReport, type WatchdogCaller } from '../model/caller.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { DEPS } from '../deps.js';
import type { Level, TimelineDoc, MonitorDoc } from '../model/documents.js';
import { MonitorOutbox } from './monitor-outbox.js';
import { getMonitorId } from '../model/monitor-id.js';
import { AnnotationTokenGuard } from '../annotation-token-guard.js';
import { SourceVisibility, type HiddenSources } from '../tree/source-visibility.js';
import { findReadable, pickWarnings, type ListWarnings } from '../../../ports/store/skipped-documents.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

export interface Annotation {
  source: string;
  type: string;
  level?: Level;
  message?: string | null;
  data?: Json;
}

export interface TimelineQuery {
  source?: string;
  type?: readonly string[];
  level?: readonly Level[];
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
  include_total?: boolean;
}

export const toTimelineEntryView = ({
  id,
  source,
  kind,
  type,
  level,
  from,
  to,
  message,
  data,
  alarm_id,
  suppressed_by,
  at,
}: TimelineDoc) => ({
  id,
  source,
  kind,
  type,
  level,
  from,
  to,
  message,
  data: data === null ? null : (JSON.parse(data) as Json),
  alarm_id,
  suppressed_by,
  at,
});
export type TimelineEntryView = ReturnType<typeof toTimelineEntryView>;

export interface EventPage extends ListWarnings {
  items: TimelineEntryView[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
}

/** A suppression's message contains the suppressor. */
function maskHidden(event: TimelineEntryView, hidden: HiddenSources): TimelineEntryView {
  if (event.suppressed_by === null || !hidden.has(event.suppressed_by)) return event;
  return { ...event, suppressed_by: null, message: 'Alarm suppressed: a monitor above it is down' };
}

@injectable()
export class TimelineService {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.timeline) private readonly timeline: Collection<TimelineDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
    @inject(SourceVisibility) private readonly visibility: SourceVisibility,
    @inject(AnnotationTokenGuard) private readonly tokens: AnnotationTokenGuard,
  ) {}

  /**
   * @throws ServiceError not_found, source_mismatch, insufficient_scope, validation_failed (a live
   *   token)
   */
  async annotate(note: Annotation, caller: WatchdogCaller): Promise<TimelineEntryView> {
    assertCanReport(caller, note.source);
    const { monitors, timeline, ids, clock } = this;
    const known = await monitors.get(getMonitorId(note.source));
    const there = known?.deleted_at === null ? known : null;
    const monitor = owned(caller.project, there, ({ project }) => project, `monitor ${note.source}`);
    await this.tokens.rejectTokens({ type: note.type, message: note.message, data: note.data });
    const doc: TimelineDoc = {
      id: `evt_${ids.uuid()}`,
      source: note.source,
      project: monitor.project,
      kind: 'annotation',
      type: cleanText(note.type),
      level: note.level ?? 'info',
      from: null,
      to: null,
      message: note.message ? cleanText(note.message) : null,
      data: note.data === undefined || note.data === null ? null : cleanText(JSON.stringify(note.data)),
      alarm_id: null,
      suppressed_by: null,
      at: clock.iso(),
    };
    await timeline.insert(doc);
    return toTimelineEntryView(doc);
  }

  /**
   * Lists newest first.
   * @throws ServiceError source_mismatch
   */
  async listPage(query: TimelineQuery, caller: WatchdogCaller): Promise<EventPage> {
    if (query.source !== undefined) assertCanReport(caller, query.source);
    const timeline = this.timeline;
    const filter: Filter = {};
    const source = query.source ?? caller.source;
    if (source !== null) filter['source'] = source;
    if (caller.project !== null) filter['project'] = caller.project;
    if (query.type) filter['type'] = query.type.length === 1 ? query.type[0] : { in: query.type };
    if (query.level) filter['level'] = query.level.length === 1 ? query.level[0] : { in: query.level };
    if (query.since !== undefined || query.until !== undefined) {
      filter['at'] = {
        ...(query.since !== undefined && { gte: query.since }),
        ...(query.until !== undefined && { lte: query.until }),
      };
    }
    // A run resolves before its timeline is stored.
    await this.outbox.waitUntilStored();
    const page = await findReadable(timeline, {
      filter,
      sort: [['at', 'desc']],
      limit: query.limit ?? 50,
      after: query.cursor ?? null,
    });
    const hidden = await this.visibility.findHiddenInViews(page.items, caller);
    return {
      items: page.items.map((doc) => maskHidden(toTimelineEntryView(doc), hidden)),
      next_cursor: page.next,
      has_more: page.next !== null,
      ...(query.include_total && { total: await timeline.count(filter) }),
      ...pickWarnings(page),
    };
  }
}
