import { badges } from './helpers/badges.js';
import { charts } from './helpers/charts.js';
import { blocks } from './helpers/code.js';
import { flows } from './helpers/flow.js';
import { format } from './helpers/format.js';
import type { Helper } from './helpers/html.js';
import { links } from './helpers/links.js';
import { logic } from './helpers/logic.js';
import { markdowns } from './helpers/markdown.js';
import { seriesCharts } from './helpers/series.js';
import { refusals } from './helpers/refusals.js';
import { timeHelpers, type TimeOptions } from './helpers/time.js';
import { traces } from './helpers/trace.js';
import { trees } from './helpers/tree.js';
import { uptimeBars } from './helpers/uptime.js';

export type { Helper } from './helpers/html.js';

/**
 * Returns all helpers by their names in templates.
 * @throws RangeError for an unknown time zone
 */
export function helpers(options: TimeOptions): Record<string, Helper> {
  return {
    ...logic,
    ...refusals,
    ...format,
    ...links,
    ...badges,
    ...charts,
    ...seriesCharts(options),
    ...flows,
    ...blocks,
    ...traces,
    ...markdowns,
    ...trees,
    ...uptimeBars,
    ...timeHelpers(options),
  };
}
