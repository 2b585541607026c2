/** Messages of joi's error types, for callers of the API. */
export const VALIDATION_MESSAGES = {
  'any.only': 'must be one of {{#valids}}',
  'any.unknown': 'is not allowed here; omit it',
  'string.empty': 'must not be empty',
  'string.pattern.base': 'must match {{#regex}}',
  'string.pattern.name': 'must be {{#name}}',
  'string.pattern.invert.name': 'must be {{#name}}',
  'string.pattern.invert.base': 'must not match {{#regex}}',
  'object.pattern.match': 'contains a name or value that is not allowed',
};
