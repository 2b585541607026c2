import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict, owned } from '../../../kernel/errors.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import type { AlarmReceiver, AlarmReceivers } from '../../../ports/domain/alarms/receivers.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { WatchdogCaller } from '../model/caller.js';
import { toIncidentView, type IncidentDoc, type IncidentView } from '../model/incident.js';
import { TimelineService } from '../timeline/timeline-service.js';
import { MonitorOutbox } from '../timeline/monitor-outbox.js';
import { maskView, SourceVisibility } from '../tree/source-visibility.js';
import { findReadable, pickWarnings, type ListWarnings } from '../../../ports/store/skipped-documents.js';
import type { Clock } from '../../../ports/clock.js';

export const MAX_COMMENTS = 100;

export interface IncidentQuery {
  source?: string;
  open?: boolean;
  project?: string;
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
}

export interface IncidentPage extends ListWarnings {
  items: IncidentView[];
  next_cursor: string | null;
  has_more: boolean;
}

@injectable()
export class IncidentService {
  constructor(
    @inject(DEPS.incidents) private readonly incidents: Collection<IncidentDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.receivers) private readonly receivers: () => readonly AlarmReceivers[],
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
    @inject(SourceVisibility) private readonly visibility: SourceVisibility,
    @inject(TimelineService) private readonly timeline: Pick<TimelineService, 'annotate'>,
  ) {}

  async listPage(query: IncidentQuery, caller: WatchdogCaller): Promise<IncidentPage> {
    const { incidents, clock } = this;
    const { source, open, since, until, limit = 50, cursor = null } = query;
    const project = caller.project ?? query.project ?? null;
    const filter: Filter = {
      ...(source !== undefined && { source }),
      ...(project !== null && { project }),
      ...(open !== undefined && { ended_at: open ? null : { gt: '' } }),
      ...((since !== undefined || until !== undefined) && {
        began_at: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lte: until }) },
      }),
    };
    // A run resolves before its incidents are stored.
    await this.outbox.waitUntilStored();
    const page = await findReadable(incidents, { filter, sort: [['began_at', 'desc']], limit, after: cursor });
    const views = page.items.map((doc) => toIncidentView(doc, clock.now()));
    const mentions = views.map(({ suppressed_by }) => ({ suppressed_by }));
    const hidden = await this.visibility.findHiddenInViews(mentions, caller);
    const items = views.map((view) => maskView(view, hidden));
    return { items, next_cursor: page.next, has_more: page.next !== null, ...pickWarnings(page) };
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async getIncident(id: string, caller: WatchdogCaller): Promise<IncidentDoc> {
    await this.outbox.waitUntilStored();
    return owned(caller.project, await this.incidents.get(id), ({ project }) => project, `incident ${id}`);
  }

  async getView(id: string, caller: WatchdogCaller): Promise<IncidentView> {
    const view = toIncidentView(await this.getIncident(id, caller), this.clock.now());
    return maskView(view, await this.visibility.findHiddenInViews([{ suppressed_by: view.suppressed_by }], caller));
  }

  async findOpen(ids: readonly string[]): Promise<Map<string, IncidentView>> {
    if (ids.length === 0) return new Map();
    await this.outbox.waitUntilStored();
    const { items } = await this.incidents.find({ filter: { id: { in: [...ids] } }, limit: ids.length });
    const open = items.filter(({ ended_at }) => ended_at === null);
    return new Map(open.map((doc) => [doc.id, toIncidentView(doc, this.clock.now())]));
  }

  /**
   * Replaces another assignee and notifies receivers of the alarm. A repeat changes nothing, but
   * delivers a notification lost in a crash.
   * @param isAcknowledging false removes the assignment
   * @throws ServiceError not_found, insufficient_scope, conflict (it is over)
   */
  async acknowledge(id: string, isAcknowledging: boolean, caller: WatchdogCaller): Promise<IncidentView> {
    const incident = await this.getIncident(id, caller);
    const { acknowledged_by = null, ended_at, source } = incident;
    const by = isAcknowledging ? caller.name : null;
    let at = incident.acknowledged_at ?? null;
    if (acknowledged_by !== by || ended_at !== null) {
      at = this.clock.iso();
      const set = { acknowledged_by: by, acknowledged_at: isAcknowledging ? at : null };
      const changed = await this.incidents.change({ id, ended_at: null }, { set });
      if (changed === null) throw conflict('The incident is over.');
      const message = isAcknowledging ? `Acknowledged by ${caller.name}` : `Acknowledgment removed by ${caller.name}`;
      const type = isAcknowledging ? 'incident.acknowledged' : 'incident.handed_back';
      await this.timeline.annotate({ source, type, message }, caller);
    }
    if (at !== null) await this.#publishAcknowledgement(incident, by, at);
    return this.getView(id, caller);
  }

  async #publishAcknowledgement({ id, source, alarm_id }: IncidentDoc, by: string | null, at: string): Promise<void> {
    if (alarm_id === null) return;
    const word = { id: `${id}:${at}:${by ?? ''}`, timestamp: at, alarm_id, source, by };
    await Promise.all(this.receivers().map(async (receivers) => receivers.forwardAcknowledgement?.(word)));
  }

  async listReceivers({ alarm_event, alarm_at, recovered_event, recovered_at }: IncidentDoc): Promise<AlarmReceiver[]> {
    const down = await this.#listEventReceivers('monitor.down', alarm_event, alarm_at);
    return [...down, ...(await this.#listEventReceivers('monitor.recovered', recovered_event, recovered_at))];
  }

  async #listEventReceivers(
    event: AlarmReceiver['event'],
    id: string | null,
    at: string | null,
  ): Promise<AlarmReceiver[]> {
    if (id === null || at === null) return [];
    const all = this.receivers().map((receivers) => receivers.listReceivers({ id, timestamp: at }));
    return (await Promise.all(all)).flat().map((one) => Object.assign({ event }, one));
  }

  /**
   * @param cause null when unknown
   * @throws ServiceError not_found, insufficient_scope
   */
  async setCause(id: string, cause: string | null, caller: WatchdogCaller): Promise<IncidentView> {
    await this.getIncident(id, caller);
    await this.incidents.change({ id }, { set: { cause: cause ? cleanText(cause) : null } });
    return this.getView(id, caller);
  }

  /** @throws ServiceError not_found, insufficient_scope, conflict (too many) */
  async addComment(id: string, text: string, caller: WatchdogCaller): Promise<IncidentView> {
    const { comments } = await this.getIncident(id, caller);
    if (comments.length >= MAX_COMMENTS) throw conflict(`An incident can have at most ${MAX_COMMENTS} comments.`);
    const comment = { at: this.clock.iso(), by: caller.name, text: cleanText(text) };
    await this.incidents.change({ id }, { push: { comments: { each: [comment], keep: MAX_COMMENTS } } });
    return this.getView(id, caller);
  }
}
