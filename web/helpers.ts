import { badgeHelpers } from './helpers/badges.js';
import { chartHelpers } from './helpers/charts.js';
import { codeHelpers } from './helpers/code.js';
import { flowHelpers } from './helpers/flow.js';
import { formatHelpers } from './helpers/format.js';
import type { Helper } from './helpers/html.js';
import { linkHelpers } from './helpers/links.js';
import { logicHelpers } from './helpers/logic.js';
import { markdownHelpers } from './helpers/markdown.js';
import { createSeriesHelpers } from './helpers/series.js';
import { formErrorHelpers } from './helpers/form-errors.js';
import { createTimeHelpers, type TimeOptions } from './helpers/time.js';
import { traceHelpers } from './helpers/trace.js';
import { treeHelpers } from './helpers/tree.js';
import { uptimeHelpers } from './helpers/uptime.js';

export type { Helper } from './helpers/html.js';

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
    ...flowHelpers,
    ...codeHelpers,
    ...traceHelpers,
    ...markdownHelpers,
    ...treeHelpers,
    ...uptimeHelpers,
    ...createTimeHelpers(options),
  };
}
