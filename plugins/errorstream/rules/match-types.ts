import { MATCH_TYPES, type RuleView } from './rule.js';

type MatchType = RuleView['match_type'];

export const MATCH_TYPE_LABELS: Record<MatchType, string> = {
  contains: 'Contains',
  regex: 'Regular expression',
  exception_class: 'Exception class',
};

const MATCH_TYPE_HELP: Record<MatchType, { help: string; example: string }> = {
  contains: {
    help: 'Part of the title, message or “Class: message”.',
    example: 'reset by peer',
  },
  regex: {
    help: 'RE2 syntax, matched against title or message.',
    example: String.raw`^timed out after \d+ s`,
  },
  exception_class: {
    help: 'Full class, last segment, or prefix with *.',
    example: 'shop.http.PartnerError, PartnerError or shop.legacy.*',
  },
};
export const matchTypeOptions = MATCH_TYPES.map((value) => {
  const { help, example } = MATCH_TYPE_HELP[value];
  return { value, label: MATCH_TYPE_LABELS[value], help, example };
});
