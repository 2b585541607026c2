/** Addresses of the pages of grouping rules. */
import type { Item } from '../../../../ports/domain/bugs.js';

export const TITLE = 'Grouping rules';

/** The list, as the first step of the way to a page. */
export const crumb = { label: TITLE, href: '/grouping-rules' };

export const rulesUrl = (project: string): string => `/grouping-rules?${new URLSearchParams({ project }).toString()}`;

/** The form of a new rule, filled in from a group. @param origin as its grouping key has it */
export function ruleUrl(
  { project, exception_class }: Pick<Item, 'project' | 'exception_class'>,
  origin: string | null,
): string {
  const given = {
    project,
    ...(exception_class !== null && { exception_class }),
    ...(origin !== null && { origin }),
  };
  return `/grouping-rules/new?${new URLSearchParams(given).toString()}`;
}
