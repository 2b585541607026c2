/**
 * Live pages (contract 80): one stream of server-sent events per tab notifies the browser, which
 * reloads the page (web/assets/follow.js). The stream contains no data, so that pages are always
 * rendered with the rights of the user.
 */
import joi from 'joi';
import { definePlugin, type RouteSpec } from '../../kernel/contract/index.js';
import { EventStreamAnswer } from '../../ports/http/index.js';
import { LIVE_TOPICS } from '../../ports/domain/live-topics.js';
import { LiveHub } from './live-hub.js';

const SESSION_CHECK_SECONDS = 5;

const buildStreamRoute = (hub: LiveHub): RouteSpec => ({
  method: 'GET',
  path: '/live',
  summary: 'Notifies a page that one of its topics has changed',
  access: { session: 'member' },
  hidden: true,
  input: {
    query: joi.object({
      topics: joi
        .string()
        .max(8000)
        .pattern(/^[a-z_]{1,32}(?::[\w%.!~*'()-]{1,800})?(?: [a-z_]{1,32}(?::[\w%.!~*'()-]{1,800})?){0,19}$/)
        .required(),
    }),
  },
  handle: ({ query }) => {
    const names = (query['topics'] as string).split(' ');
    return new EventStreamAnswer((signal) => hub.streamEvents(names, signal), {
      aliveEverySeconds: SESSION_CHECK_SECONDS,
    }).header('cache-control', 'no-store');
  },
});

export default definePlugin({
  id: 'live',
  version: '1.0.0',
  api: 1,
  title: 'Pages with live updates',
  extensionPoints: [LIVE_TOPICS.point],
  setup: (ctx) => ({ routes: [buildStreamRoute(new LiveHub(() => ctx.extensions(LIVE_TOPICS), ctx.log))] }),
});
