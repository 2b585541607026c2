/** What only a kept payload shows of a report: cleaned and scrubbed at the one place where it is asked for. Pure. */
import type { Details, Report } from '../../../ports/domain/bugs.js';
import { scrubJson } from './scrub.js';

export function detailsOf({ details }: Report): Details {
  if (details === undefined) return { context: null, breadcrumbs: null };
  const { context, breadcrumbs } = details();
  return { context: scrubJson(context), breadcrumbs: scrubJson(breadcrumbs) };
}
