/**
 * Each is rendered at most once a second and shared (`shared`), unless the page has a password. An
 * unpublished page is indistinguishable from a missing one.
 */
import joi from 'joi';
import { text, View, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { formatBrandStyles } from '../../../lib/brand/colour.js';
import { LOGO_HEADERS } from '../../../lib/brand/logo.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { formatBadgeJson, renderBadge } from '../../../lib/text/badge.js';
import { renderAtom, renderRss, type AnnouncementFeed } from '../model/announcement-feed.js';
import { hasPassword, getPagePath, toStatusPageView, type StatusPageDoc } from '../model/status-page.js';
import { STATE_BADGES } from '../model/state-labels.js';
import type { StatusPageServices } from '../services.js';
import { buildSubscribePages } from './subscribe-pages.js';
import {
  renderLockedPage,
  buildPasswordPage,
  getPasswordProof,
  type StatusPageFinder,
  type LockedResponseKind,
} from './password-page.js';

const MAX_PAGE_AGE_MS = 1_600;
const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const FEED_DAYS = 180;
const CROSS_ORIGIN_HEADERS = { 'cross-origin-resource-policy': 'cross-origin', 'access-control-allow-origin': '*' };

type PageRenderer = (page: StatusPageDoc) => Promise<ReturnType<typeof text> | View>;
export function buildVisitorPages(services: StatusPageServices, baseUrl: () => string): PageSpec[] {
  const { pages, announcements, shown, clock, lock } = services;
  const find = async (slug: string): Promise<StatusPageDoc> => {
    const page = SLUG_PATTERN.test(slug) ? await pages.findBySlug(slug) : null;
    if (page === null) throw notFound('such page');
    return page;
  };
  const published: StatusPageFinder = async ({ params }) => {
    const page = await find(params['slug'] ?? '');
    if (!page.published) throw notFound('such page');
    return page;
  };
  const previewed: StatusPageFinder = async ({ params }) => {
    const page = await find(params['slug'] ?? '');
    if (params['key'] !== page.preview_key) throw notFound('such page');
    return page;
  };
  const slug = joi.string().max(64).required();
  const publicInput = { params: joi.object({ slug }) };
  const previewInput = { params: joi.object({ slug, key: joi.string().max(64).required() }) };

  const shownTo = (
    path: string,
    {
      input,
      page: need,
      make,
      locked,
    }: Pick<PageSpec, 'input'> & { page: StatusPageFinder; make: PageRenderer; locked: LockedResponseKind },
  ): PageSpec => ({
    path: `/status-page/{slug}${path}`,
    title: 'Status',
    access: 'public',
    shared: {
      maxAgeMs: MAX_PAGE_AGE_MS,
      personal: async ({ slug: name = '' }) => {
        const page = SLUG_PATTERN.test(name) ? await pages.findBySlug(name) : null;
        return page !== null && hasPassword(page);
      },
    },
    limits: { bucket: 'rest', proves: getPasswordProof },
    basic: lock,
    input,
    handle: async (request) => {
      const page = await need(request);
      if (!lock.isOpen(page, request)) return renderLockedPage(locked, request.path);
      const answer = await make(page);
      if (hasPassword(page)) answer.header('cache-control', 'private, no-store');
      return page.indexed && need === published && !hasPassword(page)
        ? answer
        : answer.header('x-robots-tag', 'noindex');
    },
  });
  const at = (path: string, make: PageRenderer, locked: LockedResponseKind = 'error'): PageSpec =>
    shownTo(path, { input: publicInput, page: published, make, locked });
  const preview = (path: string, make: PageRenderer, locked: LockedResponseKind = 'error'): PageSpec =>
    shownTo(`/preview/{key}${path}`, { input: previewInput, page: previewed, make, locked });
  const both = (path: string, make: PageRenderer): PageSpec[] => [at(path, make), preview(path, make)];
  const feedOf = async (page: StatusPageDoc, name: string): Promise<AnnouncementFeed> => {
    const { url } = toStatusPageView(page, baseUrl());
    return {
      title: page.title,
      url,
      self: `${url.replace(/\/$/, '')}/${name}`,
      updated: page.updated_at,
      announcements: await announcements.listVisible(page, toIsoString(clock.now() - FEED_DAYS * DAY_MS)),
    };
  };

  return [
    at('', async (page) => new View('shown-page', await shown.buildContext(page, false)).withoutLayout(), 'form'),
    at(
      '/feed.xml',
      async (page) => text(renderRss(await feedOf(page, 'feed.xml')), 'application/rss+xml; charset=utf-8'),
      'challenge',
    ),
    at(
      '/feed.atom',
      async (page) => text(renderAtom(await feedOf(page, 'feed.atom'), page.id), 'application/atom+xml; charset=utf-8'),
      'challenge',
    ),
    at(
      '/badge.json',
      async (page) => {
        const [word, colour] = STATE_BADGES[await shown.getState(page)];
        const badge = text(formatBadgeJson(page.title, word, colour), 'application/json; charset=utf-8');
        for (const [name, value] of Object.entries(CROSS_ORIGIN_HEADERS)) badge.header(name, value);
        return badge;
      },
      'challenge',
    ),
    at('/badge.svg', async (page) => {
      const [word, colour] = STATE_BADGES[await shown.getState(page)];
      const badge = text(renderBadge(page.title, word, colour), 'image/svg+xml; charset=utf-8');
      for (const [name, value] of Object.entries(CROSS_ORIGIN_HEADERS)) badge.header(name, value);
      return badge;
    }),
    ...buildSubscribePages(services, published),
    ...both('/logo', (page) => getLogoResponse(shown, page)),
    ...both('/brand.css', async (page) =>
      text(formatBrandStyles((await shown.getBranding(page)).colour), 'text/css; charset=utf-8'),
    ),
    preview(
      '',
      async (page) => {
        const view = new View('shown-page', await shown.buildContext(page, true)).withoutLayout();
        return view.header('referrer-policy', 'no-referrer');
      },
      'form',
    ),
    buildPasswordPage(lock, { path: '', input: publicInput, page: published, home: getHomePath }),
    buildPasswordPage(lock, {
      path: '/preview/{key}',
      input: previewInput,
      page: previewed,
      home: (page) => `${getPagePath(page)}/preview/${page.preview_key}`,
    }),
  ];
}

const getHomePath = (page: StatusPageDoc, { headers }: HttpRequest): string =>
  page.host !== undefined && headers['host']?.replace(/:\d*$/, '').toLowerCase() === page.host
    ? '/'
    : getPagePath(page);

async function getLogoResponse(
  shown: StatusPageServices['shown'],
  page: StatusPageDoc,
): Promise<ReturnType<typeof text>> {
  const logo = await shown.getLogo(page);
  if (logo === null) throw notFound('such picture');
  const picture = text(logo.bytes, logo.type);
  for (const [name, value] of Object.entries(LOGO_HEADERS)) picture.header(name, value);
  return picture;
}
