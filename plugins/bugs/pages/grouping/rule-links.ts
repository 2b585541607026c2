import type { Item } from '../../../../ports/domain/bugs.js';

export const GROUPING_RULES_TITLE = 'Grouping rules';

export const groupingRulesCrumb = { label: GROUPING_RULES_TITLE, href: '/grouping-rules' };

export const buildRulesUrl = (project: string): string =>
  `/grouping-rules?${new URLSearchParams({ project }).toString()}`;

export const buildRuleUrl = (project: string, id: string): string =>
  `/grouping-rules/${encodeURIComponent(project)}/${id}/edit`;

/** A longer text may be truncated and would match nothing. */
const MAX_CLASS_LENGTH = 200;
const MAX_ORIGIN_LENGTH = 299;

export function buildNewRuleUrl(
  { project, exception_class }: Pick<Item, 'project' | 'exception_class'>,
  origin: string | null,
): string {
  const given = {
    project,
    ...(exception_class !== null && exception_class.length <= MAX_CLASS_LENGTH && { exception_class }),
    ...(origin !== null && origin.length <= MAX_ORIGIN_LENGTH && { origin }),
  };
  return `/grouping-rules/new?${new URLSearchParams(given).toString()}`;
}
