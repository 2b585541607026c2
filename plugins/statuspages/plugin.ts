/**
 * Custom names for monitors, announcements, feeds and custom hosts (contract 30, badges and status
 * pages). Nothing depends on this plugin.
 */
import joi from 'joi';
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { THROTTLE } from '../../ports/domain/access.js';
import { AUDIT, AUDIT_TARGETS } from '../../ports/domain/audit.js';
import { MAIL_QUEUE } from '../../ports/domain/mail/mail-queue.js';
import { HOUR_MS, MINUTE_MS } from '../../lib/time.js';
import { PROJECT_USAGE, PROJECTS, SELLER_BRANDS } from '../../ports/domain/projects.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createStatusPageKind } from './store/status-page-config-kind.js';
import type { StatusPagesConfig, StatusPagesDeps } from './deps.js';
import { buildStatusPageRoutes } from './http/status-page-routes.js';
import { HOST_PATTERN } from './model/status-page.js';
import { buildSubscriberRoutes } from './http/subscriber-routes.js';
import { buildAdminPages } from './pages/admin-pages.js';
import { buildOneClickRoute } from './pages/subscribe-pages.js';
import { buildSubscriberPages } from './pages/subscriber-pages.js';
import { buildVisitorPages } from './pages/visitor-pages.js';
import { buildServices } from './services.js';

const config = joi.object({
  hosts: joi
    .array()
    .items(
      joi
        .string()
        .lowercase()
        .pattern(HOST_PATTERN)
        .message('must be a name such as status.example.org, without a port'),
    )
    .default([])
    .description('Host names allowed as `host` of status pages; administrators can set any other in the web UI'),
});

export default definePlugin<StatusPagesConfig>({
  id: 'statuspages',
  version: '1.0.0',
  api: 1,
  title: 'Status pages',
  needs: [AUDIT, PROJECTS, SELLER_BRANDS, THROTTLE, WATCHDOG].map(({ name }) => name),
  uses: [MAIL_QUEUE.name],
  extends: [AUDIT_TARGETS.point, CONFIG_KINDS.point, PROJECT_USAGE.point],
  config,
  collections: [
    {
      name: 'pages',
      indexes: [{ fields: ['slug'], unique: true }, { fields: ['host'], unique: true }, { fields: ['project'] }],
    },
    {
      name: 'announcements',
      indexes: [
        { fields: ['page_id', 'starts_at'] },
        { fields: ['page_id', 'ended_at'] },
        { fields: ['mails_at'] },
        { fields: ['mail_due_at'] },
      ],
    },
    {
      name: 'subscribers',
      indexes: [
        { fields: ['key'], unique: true },
        { fields: ['page_id', 'created_at'] },
        { fields: ['page_id', 'confirmed_at'] },
        { fields: ['confirm_hash'] },
        { fields: ['confirm_until'] },
      ],
    },
    { name: 'logos', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    const { clock, ids, log, app } = ctx;
    const deps: StatusPagesDeps = {
      pages: ctx.collection('pages'),
      announcements: ctx.collection('announcements'),
      logos: ctx.collection('logos'),
      subscribers: ctx.collection('subscribers'),
      mail: () => ctx.find(MAIL_QUEUE),
      clock,
      ids,
      log,
      watchdog: ctx.resolve(WATCHDOG),
      projects: ctx.resolve(PROJECTS),
      brands: ctx.resolve(SELLER_BRANDS),
      audit: ctx.resolve(AUDIT),
      hasher: ctx.ports.hasher,
      cipher: ctx.ports.cipher,
      throttle: ctx.resolve(THROTTLE),
      baseUrl: () => app.base_url.replace(/\/$/, ''),
      timezone: app.timezone,
      hosts: ctx.config.hosts,
    };
    const services = buildServices(ctx, deps);
    return {
      routes: [...buildStatusPageRoutes(services), ...buildSubscriberRoutes(services), buildOneClickRoute(services)],
      pages: [
        ...buildVisitorPages(services, deps.baseUrl),
        ...buildAdminPages(services),
        ...buildSubscriberPages(services),
      ],
      hosts: services.hosts,
      stop: () => services.news.waitUntilIdle(),
      jobs: [
        { name: 'news', everyMs: MINUTE_MS, run: () => services.news.run() },
        { name: 'expire', everyMs: HOUR_MS, removesByAge: true, run: () => services.subscribers.removeExpired() },
      ],
      extensions: [
        extend(CONFIG_KINDS, createStatusPageKind(services.pages)),
        extend(AUDIT_TARGETS, {
          noun: 'status_page',
          describe: async (slug) => {
            const page = await services.pages.findBySlug(slug);
            return page && { name: page.title, href: `/status-pages/${page.id}` };
          },
        }),
        extend(AUDIT_TARGETS, {
          noun: 'announcement',
          describe: async (id) => {
            const announcement = await deps.announcements.get(id);
            return (
              announcement && {
                name: announcement.title,
                href: `/status-pages/${announcement.page_id}/announcements/${id}`,
              }
            );
          },
        }),
        extend(PROJECT_USAGE, {
          noun: 'status pages',
          isInUse: async (project) => (await deps.pages.find({ filter: { project }, limit: 1 })).items.length > 0,
        }),
      ],
    };
  },
});
