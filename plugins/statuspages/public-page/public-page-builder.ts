/**
 * Uses only names, states and texts. Sources, messages and checks are never included; monitor names
 * only if the component shows details and the monitor is public.
 */
import { inject, injectable, type Clock, type Collection } from '../../../kernel/contract/index.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { DEPS, type LogoDoc } from '../deps.js';
import { getAnnouncementState, type AnnouncementDoc } from '../model/announcement.js';
import {
  getComponentCondition,
  buildMonitorIndex,
  listComponentMonitors,
  toComponentState,
  findWorstState,
  type ComponentCondition,
  type MonitorIndex,
  type ComponentState,
} from '../model/component-condition.js';
import {
  HISTORY_DAYS,
  MAX_SHOWN_MONITORS,
  getPagePath,
  type StatusPageComponent,
  type StatusPageDoc,
} from '../model/status-page.js';
import { COMPONENT_STATE_LABELS, ANNOUNCEMENT_STATE_LABELS } from '../model/state-labels.js';
import { AnnouncementService } from '../store/announcement-service.js';
import { StatusPageService } from '../store/status-page-service.js';
import type { SellerBrands } from '../../../ports/domain/projects.js';
import type { WatchdogApi } from '../../../ports/domain/watchdog.js';

const PAST_ANNOUNCEMENT_DAYS = 90;
const MAX_PAST_ANNOUNCEMENTS = 20;
const STATE_TONES = { up: 'success', warning: 'warning', down: 'critical', none: 'none' } as const;
const DAY_LABELS = { up: 'up', warning: 'degraded', down: 'down', none: 'no data' } as const;

interface LoadedMonitors {
  family: MonitorIndex;
  complete: boolean;
}

@injectable()
export class PublicPageBuilder {
  constructor(
    @inject(DEPS.watchdog) private readonly watchdog: Pick<WatchdogApi, 'listConditions'>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.brands) private readonly brands: Pick<SellerBrands, 'find' | 'readLogo'>,
    @inject(DEPS.logos) private readonly logos: Collection<LogoDoc>,
    @inject(AnnouncementService) private readonly announcements: AnnouncementService,
    @inject(StatusPageService) private readonly pages: StatusPageService,
  ) {}

  async getState(page: StatusPageDoc): Promise<ComponentState> {
    const { family } = await this.#loadMonitors(page, 1);
    const states = page.components.flatMap((one) =>
      listComponentMonitors(one, family).map(({ state }) => toComponentState(state)),
    );
    return findWorstState(states);
  }

  async getBranding(page: StatusPageDoc): Promise<{ seller: string | null; colour: string | null; logo: boolean }> {
    const brand = page.project === null ? null : await this.brands.find(page.project);
    return {
      seller: page.seller ?? brand?.name ?? null,
      colour: page.colour ?? brand?.colour ?? null,
      logo: page.logo_type !== null || (brand?.logo ?? null) !== null,
    };
  }

  async getLogo(page: StatusPageDoc): Promise<{ type: string; bytes: Buffer } | null> {
    const own = page.logo_type === null ? null : await this.logos.get(page.id);
    if (own !== null) return { type: own.type, bytes: Buffer.from(own.data, 'base64') };
    return page.project === null ? null : this.brands.readLogo(page.project);
  }

  /** @param preview shows a page before it is published */
  async buildContext(page: StatusPageDoc, preview: boolean): Promise<Record<string, unknown>> {
    const now = this.clock.now();
    const [{ family, complete }, brand, announcements] = await Promise.all([
      this.#loadMonitors(page, HISTORY_DAYS),
      this.getBranding(page),
      this.announcements.listVisible(page, toIsoString(now - PAST_ANNOUNCEMENT_DAYS * DAY_MS)),
    ]);
    const today = Math.floor(now / DAY_MS);
    const components = page.components.map((one) => toComponentView(one, family, today));
    const announcementEntries = announcements.map((one) => toAnnouncementEntry(one, toIsoString(now)));
    const open = announcementEntries.filter(({ over }) => !over);
    const state = findWorstState(components.map((one) => one.state));
    const incidents = open.filter(({ planned }) => !planned).length;
    const heading =
      state === 'up' && incidents > 0 ? 'We are working on an incident' : COMPONENT_STATE_LABELS[state].all;
    const base = getPagePath(page);
    const files = preview ? `${base}/preview/${page.preview_key}` : base;
    return {
      page: { title: page.title, text: page.text, seller: brand.seller },
      indexed: page.indexed && !preview,
      preview,
      published: page.published,
      lang: 'en',
      heading: state === 'down' && components.every((one) => one.state === 'down') ? 'All systems are down' : heading,
      tone: state === 'up' && incidents > 0 ? 'warning' : COMPONENT_STATE_LABELS[state].tone,
      components,
      partial: !complete,
      current: open.filter(({ upcoming }) => !upcoming),
      upcoming: open.filter(({ upcoming }) => upcoming).toReversed(),
      past: announcementEntries.filter(({ over }) => over).slice(0, MAX_PAST_ANNOUNCEMENTS),
      past_days: PAST_ANNOUNCEMENT_DAYS,
      reader: { timezone: page.timezone, hours: 24, public: true },
      base,
      brand: `${files}/brand.css`,
      logo: brand.logo ? `${files}/logo` : null,
      days: HISTORY_DAYS,
      subscribe: this.pages.acceptsSubscribers(page) && !preview,
    };
  }

  async #loadMonitors({ components, project }: StatusPageDoc, days: number): Promise<LoadedMonitors> {
    const sources = components.flatMap((one) => one.sources);
    const subtrees = components.flatMap(({ subtree }) => subtree ?? []);
    const query = { sources, subtrees, project, days, limit: MAX_SHOWN_MONITORS };
    const { monitors, complete } = await this.watchdog.listConditions(query);
    return { family: buildMonitorIndex(monitors), complete };
  }
}

function toComponentView(component: StatusPageComponent, family: MonitorIndex, today: number) {
  const monitors = listComponentMonitors(component, family);
  const { state, days, share }: ComponentCondition = getComponentCondition(monitors, today);
  const shown = component.details ? monitors.filter((one) => one.public) : [];
  return {
    name: component.name,
    state,
    word: COMPONENT_STATE_LABELS[state].one,
    tone: COMPONENT_STATE_LABELS[state].tone,
    // Rounded down: 100% means never down.
    share: share === null ? '–' : `${Math.floor(share * 10_000) / 100}%`,
    days: days.map(({ state: of, minutes }) => ({
      tone: STATE_TONES[of],
      text: DAY_LABELS[of],
      seconds: minutes === null ? null : minutes * 60,
    })),
    parts: shown
      .map(({ name, state: of }) => ({
        name,
        word: COMPONENT_STATE_LABELS[toComponentState(of)].one,
        tone: COMPONENT_STATE_LABELS[toComponentState(of)].tone,
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en')),
  };
}

function toAnnouncementEntry(doc: AnnouncementDoc, now: string) {
  const { kind, title, components, starts_at, ends_at, updates } = doc;
  const state = getAnnouncementState(doc, now);
  const planned = kind === 'maintenance';
  return {
    title,
    planned,
    over: state === 'resolved' || state === 'completed',
    upcoming: state === 'planned',
    word: ANNOUNCEMENT_STATE_LABELS[state],
    about: components.join(', '),
    starts: starts_at,
    ends: ends_at,
    updates: updates.toReversed().map(({ at, text, state: of }) => ({
      at,
      word: ANNOUNCEMENT_STATE_LABELS[of],
      lines: text.split(/\r?\n/).filter((line) => line.trim() !== ''),
    })),
  };
}
