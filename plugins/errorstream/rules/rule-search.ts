import type { SearchProvider } from '../../../ports/domain/search.js';
import type { IgnoreRuleService } from './ignore-rules.js';

/** Every process has all rules in memory (rules/ignore-rule-filter.ts). */
const MAX_SEARCHED_RULES = 1000;

export const buildRuleSearch = (registry: Pick<IgnoreRuleService, 'getPage'>): SearchProvider => ({
  label: 'Ignore rules',
  icon: 'filter-off',
  order: 25,
  role: 'member',
  acts: [
    { verb: 'New', also: ['add', 'create'], noun: 'ignore rule', nouns: ['mute', 'noise'], href: '/ignore-rules/new' },
  ],
  find: async ({ words, limit, principal }) => {
    const { items } = await registry.getPage(principal, { limit: MAX_SEARCHED_RULES });
    const found = items.filter(({ name, pattern, reason, project }) => {
      const text = [name, pattern, reason, project].filter(Boolean).join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return found.slice(0, limit).map(({ id, name, pattern, reason, enabled }) => ({
      title: name,
      href: `/ignore-rules/${id}`,
      detail: [name === pattern ? null : pattern, reason].filter(Boolean).join(' · ') || null,
      state: enabled ? null : 'disabled',
    }));
  },
});
