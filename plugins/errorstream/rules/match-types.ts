import { MATCH_TYPES, type RuleView } from './rule.js';

type MatchType = RuleView['match_type'];

export const MATCH_TYPE_LABELS: Record<MatchType, string> = {
  contains: 'Contains',
  regex: 'Regular expression',
  exception_class: 'Exception class',
};

const MATCH_TYPE_HELP: Record<MatchType, { help: string; example: string }> = {
  contains: {
    help: 'A part of the title, of the message, or of “Class: message”, as it is written.',
    example: 'reset by peer',
  },
  regex: {
    help: 'An expression in RE2 syntax, searched for in each of the three. What is meant literally needs \\ before . + * ? ( ) [ ] { } ^ $ |.',
    example: String.raw`^timed out after \d+ s`,
  },
  exception_class: {
    help: 'The class: whole, its last segment alone, or a beginning of it that ends in *.',
    example: 'shop.http.PartnerError, PartnerError or shop.legacy.*',
  },
};
export const matchTypeOptions = MATCH_TYPES.map((value) => {
  const { help, example } = MATCH_TYPE_HELP[value];
  return { value, label: MATCH_TYPE_LABELS[value], help, example };
});
