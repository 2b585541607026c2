/**
 * Builds the public view of a status page from its names, states and texts only. Sources, messages
 * and checks are never included; monitor names only if the component shows details and the monitor
 * is public.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DAY_MS, isoOf } from '../../../lib/time.js';
import { DEPS, type StatusPagesDeps } from '../deps.js';
import { getState, type AnnouncementDoc } from '../model/announcement.js';
import {
  getCondition,
  buildFamily,
  listComponentMonitors,
  toShownState,
  findWorst,
  type ComponentCondition,
  type MonitorFamily,
  type ShownState,
} from '../model/condition.js';
import { DAYS, MAX_SHOWN_MONITORS, getPagePath, type Component, type StatusPageDoc } from '../model/page.js';
import { CONDITION_WORDS, STATE_WORDS } from '../model/labels.js';
import { Announcements } from '../store/announcements.js';
import { StatusPages } from '../store/pages.js';

const PAST_DAYS = 90;
const MAX_PAST_ANNOUNCEMENTS = 20;
const TONES = { up: 'success', warning: 'warning', down: 'critical', none: 'none' } as const;
const COLUMN_WORDS = { up: 'up', warning: 'degraded', down: 'down', none: 'no data' } as const;

interface Family {
  family: MonitorFamily;
  complete: boolean;
}

@injectable()
export class PublicPageBuilder {
  constructor(
    @inject(DEPS) private readonly deps: Pick<StatusPagesDeps, 'watchdog' | 'clock' | 'brands' | 'logos'>,
    @inject(Announcements) private readonly announcements: Announcements,
    @inject(StatusPages) private readonly pages: StatusPages,
  ) {}

  async state(page: StatusPageDoc): Promise<ShownState> {
    const { family } = await this.#loadFamily(page, 1);
    const states = page.components.flatMap((one) =>
      listComponentMonitors(one, family).map(({ state }) => toShownState(state)),
    );
    return findWorst(states);
  }

  async brand(page: StatusPageDoc): Promise<{ seller: string | null; colour: string | null; logo: boolean }> {
    const brand = page.project === null ? null : await this.deps.brands.of(page.project);
    return {
      seller: page.seller ?? brand?.name ?? null,
      colour: page.colour ?? brand?.colour ?? null,
      logo: page.logo_type !== null || (brand?.logo ?? null) !== null,
    };
  }

  async logo(page: StatusPageDoc): Promise<{ type: string; bytes: Buffer } | null> {
    const own = page.logo_type === null ? null : await this.deps.logos.get(page.id);
    if (own !== null) return { type: own.type, bytes: Buffer.from(own.data, 'base64') };
    return page.project === null ? null : this.deps.brands.logo(page.project);
  }

  /**
   * Builds the template context.
   * @param preview shows a page before it is published
   */
  async context(page: StatusPageDoc, preview: boolean): Promise<Record<string, unknown>> {
    const now = this.deps.clock.now();
    const [{ family, complete }, brand, announcements] = await Promise.all([
      this.#loadFamily(page, DAYS),
      this.brand(page),
      this.announcements.listShown(page, isoOf(now - PAST_DAYS * DAY_MS)),
    ]);
    const today = Math.floor(now / DAY_MS);
    const components = page.components.map((one) => toComponentView(one, family, today));
    const told = announcements.map((one) => toAnnouncementEntry(one, isoOf(now)));
    const open = told.filter(({ over }) => !over);
    const state = findWorst(components.map((one) => one.state));
    const incidents = open.filter(({ planned }) => !planned).length;
    const heading = state === 'up' && incidents > 0 ? 'We are working on an incident' : CONDITION_WORDS[state].all;
    const base = getPagePath(page);
    const files = preview ? `${base}/preview/${page.preview_key}` : base;
    return {
      page: { title: page.title, text: page.text, seller: brand.seller },
      indexed: page.indexed && !preview,
      preview,
      published: page.published,
      lang: 'en',
      heading: state === 'down' && components.every((one) => one.state === 'down') ? 'All systems are down' : heading,
      tone: state === 'up' && incidents > 0 ? 'warning' : CONDITION_WORDS[state].tone,
      components,
      partial: !complete,
      current: open.filter(({ upcoming }) => !upcoming),
      upcoming: open.filter(({ upcoming }) => upcoming).toReversed(),
      past: told.filter(({ over }) => over).slice(0, MAX_PAST_ANNOUNCEMENTS),
      past_days: PAST_DAYS,
      reader: { timezone: page.timezone, hours: 24, public: true },
      base,
      brand: `${files}/brand.css`,
      logo: brand.logo ? `${files}/logo` : null,
      days: DAYS,
      subscribe: this.pages.canTakeSubscribers(page) && !preview,
    };
  }

  async #loadFamily({ components, project }: StatusPageDoc, days: number): Promise<Family> {
    const sources = components.flatMap((one) => one.sources);
    const subtrees = components.flatMap(({ subtree }) => subtree ?? []);
    const query = { sources, subtrees, project, days, limit: MAX_SHOWN_MONITORS };
    const { monitors, complete } = await this.deps.watchdog.conditions(query);
    return { family: buildFamily(monitors), complete };
  }
}

function toComponentView(component: Component, family: MonitorFamily, today: number) {
  const monitors = listComponentMonitors(component, family);
  const { state, days, share }: ComponentCondition = getCondition(monitors, today);
  const shown = component.details ? monitors.filter((one) => one.public) : [];
  return {
    name: component.name,
    state,
    word: CONDITION_WORDS[state].one,
    tone: CONDITION_WORDS[state].tone,
    // Rounded down: 100% means never down.
    share: share === null ? '–' : `${Math.floor(share * 10_000) / 100}%`,
    days: days.map(({ state: of, minutes }) => ({
      tone: TONES[of],
      text: COLUMN_WORDS[of],
      seconds: minutes === null ? null : minutes * 60,
    })),
    parts: shown
      .map(({ name, state: of }) => ({
        name,
        word: CONDITION_WORDS[toShownState(of)].one,
        tone: CONDITION_WORDS[toShownState(of)].tone,
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en')),
  };
}

function toAnnouncementEntry(doc: AnnouncementDoc, now: string) {
  const { kind, title, components, starts_at, ends_at, updates } = doc;
  const state = getState(doc, now);
  const planned = kind === 'maintenance';
  return {
    title,
    planned,
    over: state === 'resolved' || state === 'completed',
    upcoming: state === 'planned',
    word: STATE_WORDS[state],
    about: components.join(', '),
    starts: starts_at,
    ends: ends_at,
    updates: updates.toReversed().map(({ at, text, state: of }) => ({
      at,
      word: STATE_WORDS[of],
      lines: text.split(/\r?\n/).filter((line) => line.trim() !== ''),
    })),
  };
}
