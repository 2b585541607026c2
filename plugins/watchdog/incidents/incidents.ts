/** Incidents as people and programs read them, with what people say of them (contract 30, beyond the specification). */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict, owned } from '../../../kernel/errors.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import type { AlarmReceiver } from '../../../ports/domain/watchdog.js';
import type { Filter } from '../../../ports/store.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import type { WatchdogCaller } from '../model/caller.js';
import { incidentView, type IncidentDoc, type IncidentView } from '../model/incident.js';
import { MonitorOutbox } from '../timeline/outbox.js';
import { masked, Visibility } from '../tree/visibility.js';

export const MOST_COMMENTS = 100;

export interface IncidentQuery {
  source?: string;
  open?: boolean;
  project?: string;
  /** By when they began. */
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
}

export interface IncidentPage {
  items: IncidentView[];
  next_cursor: string | null;
  has_more: boolean;
}

@injectable()
export class Incidents {
  constructor(
    @inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'incidents' | 'clock' | 'receivers'>,
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
    @inject(Visibility) private readonly visibility: Visibility,
  ) {}

  /** Newest first. */
  async page(query: IncidentQuery, caller: WatchdogCaller): Promise<IncidentPage> {
    const { incidents, clock } = this.deps;
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
    // A run answers before what it found is written.
    await this.outbox.stored();
    const page = await incidents.find({ filter, sort: [['began_at', 'desc']], limit, after: cursor });
    const views = page.items.map((doc) => incidentView(doc, clock.now()));
    const mentions = views.map(({ suppressed_by }) => ({ suppressed_by }));
    const hidden = await this.visibility.hiddenIn(mentions, caller);
    return { items: views.map((view) => masked(view, hidden)), next_cursor: page.next, has_more: page.next !== null };
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async need(id: string, caller: WatchdogCaller): Promise<IncidentDoc> {
    await this.outbox.stored();
    return owned(caller.project, await this.deps.incidents.get(id), ({ project }) => project, `incident ${id}`);
  }

  async view(id: string, caller: WatchdogCaller): Promise<IncidentView> {
    const view = incidentView(await this.need(id, caller), this.deps.clock.now());
    return masked(view, await this.visibility.hiddenIn([{ suppressed_by: view.suppressed_by }], caller));
  }

  /** Who was told of its alarm, and of the end of that. */
  async told({ alarm_event, alarm_at, recovered_event, recovered_at }: IncidentDoc): Promise<AlarmReceiver[]> {
    const down = await this.#toldOf('monitor.down', alarm_event, alarm_at);
    return [...down, ...(await this.#toldOf('monitor.recovered', recovered_event, recovered_at))];
  }

  async #toldOf(event: AlarmReceiver['event'], id: string | null, at: string | null): Promise<AlarmReceiver[]> {
    if (id === null || at === null) return [];
    const all = this.deps.receivers().map((receivers) => receivers.told({ id, timestamp: at }));
    return (await Promise.all(all)).flat().map((one) => Object.assign({ event }, one));
  }

  /** @param cause what people found out; null: it is not known. @throws ServiceError not_found, insufficient_scope */
  async explain(id: string, cause: string | null, caller: WatchdogCaller): Promise<IncidentView> {
    await this.need(id, caller);
    await this.deps.incidents.change({ id }, { set: { cause: cause ? cleanText(cause) : null } });
    return this.view(id, caller);
  }

  /** @throws ServiceError not_found, insufficient_scope, conflict (too many) */
  async comment(id: string, text: string, caller: WatchdogCaller): Promise<IncidentView> {
    const { comments } = await this.need(id, caller);
    if (comments.length >= MOST_COMMENTS) throw conflict(`An incident has ${MOST_COMMENTS} comments at most.`);
    const comment = { at: this.deps.clock.iso(), by: caller.name, text: cleanText(text) };
    await this.deps.incidents.change({ id }, { push: { comments: { each: [comment], keep: MOST_COMMENTS } } });
    return this.view(id, caller);
  }
}
