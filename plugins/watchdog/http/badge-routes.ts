/** For `public` monitors (contract 30, beyond the specification). */
import joi from 'joi';
import { withJsonSchema, text, type RouteSpec } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { formatBadgeJson, renderBadge, type BADGE_COLOURS } from '../../../lib/text/badge.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import { getDailyUptime, UPTIME_RETENTION_DAYS, formatPercent } from '../model/uptime.js';
import { isMonitorId } from '../model/monitor-id.js';
import type { WatchdogServices } from '../services.js';

const SVG_FORMAT = { write: renderBadge, type: 'image/svg+xml; charset=utf-8' };
const JSON_FORMAT = { write: formatBadgeJson, type: 'application/json; charset=utf-8' };

const STATE_COLORS: Readonly<Record<MonitorState, keyof typeof BADGE_COLOURS>> = {
  up: 'green',
  warning: 'yellow',
  down: 'red',
  unknown: 'grey',
  stopped: 'grey',
  maintenance: 'blue',
};

export const buildBadgeRoute = ({ monitors, clock }: WatchdogServices): RouteSpec => ({
  method: 'GET',
  path: '/badge/{file}',
  operationId: 'getBadge',
  summary: 'Get the state of a public monitor as an image, /badge/<id>.svg, or for shields.io, /badge/<id>.json',
  description: 'With `uptime`, shows the uptime of this many days instead of the state.',
  access: 'public',
  input: {
    params: joi.object({ file: joi.string().max(100).required() }),
    query: joi.object({ uptime: joi.number().integer().min(1).max(UPTIME_RETENTION_DAYS).description('Days') }),
  },
  output: withJsonSchema({ contentMediaType: 'image/svg+xml' }, joi.string()),
  handle: async (request) => {
    const [, id = '', type] = /^(.+)\.(svg|json)$/.exec(request.params['file'] ?? '') ?? [];
    const monitor = isMonitorId(id) ? await monitors.find(id) : null;
    if (!monitor?.public) throw notFound('such badge');
    const { uptime: days } = request.query as { uptime?: number };
    const share = days === undefined ? null : getDailyUptime(monitor, clock.now(), days).share;
    const label = days === undefined ? monitor.state : `${formatPercent(share)} in ${days} d`;
    const badge = type === 'json' ? JSON_FORMAT : SVG_FORMAT;
    const { name, state } = monitor;
    return text(badge.write(name, label, STATE_COLORS[state]), badge.type).header(
      'cache-control',
      'public, max-age=30',
    );
  },
});
