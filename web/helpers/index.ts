import { createAreaHelpers } from './area-chart.js';
import { badgeHelpers } from './badges.js';
import { chartHelpers } from './charts.js';
import { codeHelpers } from './code.js';
import { eventChartHelpers } from './event-chart.js';
import { flowHelpers } from './flow.js';
import { formatHelpers } from './format.js';
import type { Helper } from './html.js';
import { linkHelpers } from './links.js';
import { logicHelpers } from './logic.js';
import { markdownHelpers } from './markdown.js';
import { createSeriesHelpers } from './series.js';
import { formErrorHelpers } from './form-errors.js';
import { createTimeHelpers, type TimeOptions } from './time.js';
import { traceHelpers } from './trace.js';
import { createTrafficHelpers } from './traffic-chart.js';
import { treeHelpers } from './tree.js';
import { uptimeHelpers } from './uptime.js';

export type { Helper } from './html.js';

/**
 * Returns all helpers by their names in templates.
 * @throws RangeError for an unknown time zone
 */
export function createHelpers(options: TimeOptions): Record<string, Helper> {
  return {
    ...logicHelpers,
    ...formErrorHelpers,
    ...formatHelpers,
    ...linkHelpers,
    ...badgeHelpers,
    ...chartHelpers,
    ...createSeriesHelpers(options),
    ...createTrafficHelpers(options),
    ...createAreaHelpers(options),
    ...eventChartHelpers,
    ...flowHelpers,
    ...codeHelpers,
    ...traceHelpers,
    ...markdownHelpers,
    ...treeHelpers,
    ...uptimeHelpers,
    ...createTimeHelpers(options),
  };
}
