/**
 * Validates a posted form with an API schema and reports all errors, each as a sentence for its
 * control.
 */
import type { ObjectSchema, ValidationError, ValidationOptions } from 'joi';
import { formatSentence } from '../../lib/sentence.js';
import { formatInteger } from '../../lib/text/format-integer.js';
import { invalid } from '../errors.js';

const MAX_FORM_ENTRIES = 50;

type FaultContext = Record<string, unknown>;

const formatCount = (value: unknown): string => (typeof value === 'number' ? formatInteger(value) : String(value));

/** `a, b or c`; null is an empty control. */
const formatChoices = (valids: unknown): string => {
  const names = (Array.isArray(valids) ? valids : []).filter((one) => one !== null && one !== '').map(String);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
};

const formatLength = ({ limit, value }: FaultContext): string => {
  const now = typeof value === 'string' ? ` (now ${formatCount(Array.from(value).length)})` : '';
  return `${limit === 1 ? '1 character' : `${formatCount(limit)} characters`}${now}`;
};
const formatEntries = ({ limit }: FaultContext): string => (limit === 1 ? 'one' : formatCount(limit));

const formatMissing = (): string => 'Required';
const formatDate = (): string => 'Enter a date and time, for example 2026-11-22T08:00:00Z.';
const formatAddress = (): string => 'Enter a URL that starts with https:// or http://.';

/** By joi's error type. */
const MESSAGE_FORMATTERS: Record<string, (context: FaultContext) => string> = {
  'any.required': formatMissing,
  'string.empty': formatMissing,
  'any.only': ({ valids }) => `Choose ${formatChoices(valids)}.`,
  'any.unknown': () => 'Not allowed here.',
  'string.base': () => 'Enter text.',
  'string.min': (context) =>
    context['limit'] === 1 ? formatMissing() : `Must have at least ${formatLength(context)}.`,
  'string.max': (context) => `Must have at most ${formatLength(context)}.`,
  'string.length': (context) => `Must have exactly ${formatLength(context)}.`,
  'string.email': () => 'Enter an e-mail address, for example ada@example.com.',
  'string.uri': formatAddress,
  'string.uriCustomScheme': formatAddress,
  'string.guid': () => 'Enter a valid ID.',
  'string.isoDate': formatDate,
  'string.pattern.name': ({ name }) => `Use ${String(name)}.`,
  'string.pattern.invert.name': ({ name }) => `Must be ${String(name)}.`,
  'string.pattern.base': () => 'Invalid format.',
  'number.base': () => 'Enter a number.',
  'number.unsafe': () => 'Enter a smaller number.',
  'number.infinity': () => 'Enter a number.',
  'number.integer': () => 'Enter a whole number.',
  'number.positive': () => 'Must be greater than 0.',
  'number.min': ({ limit }) => `Must be at least ${formatCount(limit)}.`,
  'number.max': ({ limit }) => `Must be at most ${formatCount(limit)}.`,
  'boolean.base': () => 'Choose Yes or No.',
  'array.base': () => 'Choose an option.',
  'array.min': (context) => `Choose at least ${formatEntries(context)}.`,
  'array.max': (context) => `Choose at most ${formatEntries(context)}.`,
  'array.unique': () => 'Remove duplicates.',
  'array.includesRequiredUnknowns': () => 'Choose at least one.',
  'object.base': () => 'Enter an object.',
};

/** `.message(…)` and `.messages(…)` take precedence. */
const FORM_MESSAGE_MARK = '(words of the form)';

/** Marks errors and drops fields that the schema lacks. */
const FORM_OPTIONS: ValidationOptions = {
  abortEarly: false,
  stripUnknown: true,
  errors: { label: false },
  messages: Object.fromEntries(Object.keys(MESSAGE_FORMATTERS).map((type) => [type, FORM_MESSAGE_MARK])),
};

/** Matches the API's message about timestamps. */
const TIMESTAMP_PATTERN = /RFC 3339/;

/** Maps errors to controls. */
function toFieldFaults({ details }: ValidationError): Record<string, string> {
  const faults = new Map<string, string>();
  for (const { path, type, message, context = {} } of details.slice(0, MAX_FORM_ENTRIES)) {
    const { peers = ['form'] } = context as { peers?: readonly string[] };
    const name = String(path[0] ?? peers[0]);
    const words =
      message === FORM_MESSAGE_MARK
        ? MESSAGE_FORMATTERS[type]?.(context)
        : TIMESTAMP_PATTERN.test(message)
          ? formatDate()
          : undefined;
    if (!faults.has(name)) faults.set(name, words ?? formatSentence(message));
  }
  return Object.fromEntries(faults);
}

/**
 * @param schema of the API; unknown fields are dropped
 * @throws ServiceError validation_failed: `fields` has a sentence for each invalid control
 */
export function fromForm(schema: ObjectSchema, given: object, options: ValidationOptions = {}): unknown {
  const { value, error } = schema.validate(given, { ...FORM_OPTIONS, ...options }) as {
    value: unknown;
    error?: ValidationError;
  };
  if (error !== undefined) throw invalid(toFieldFaults(error));
  return value;
}
