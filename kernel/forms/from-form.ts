/**
 * A posted form by a schema of the interface, with its faults in words for people: each a sentence for its control, all
 * of them at once. An API's caller reads the schema's own words, which name types and patterns; a person at a form
 * reads these.
 */
import type { ObjectSchema, ValidationError, ValidationOptions } from 'joi';
import { formatSentence } from '../../lib/sentence.js';
import { grouped } from '../../lib/text/grouped.js';
import { invalid } from '../errors.js';

/** Faults of one answer; more would be nobody's form. */
const MAX_FORM_ENTRIES = 50;

type Context = Record<string, unknown>;

const count = (value: unknown): string => (typeof value === 'number' ? grouped(value) : String(value));

/** `a, b or c`; null is an empty control. */
const choices = (valids: unknown): string => {
  const names = (Array.isArray(valids) ? valids : []).filter((one) => one !== null && one !== '').map(String);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
};

const length = ({ limit, value }: Context): string => {
  const now = typeof value === 'string' ? `; these are ${count(Array.from(value).length)}` : '';
  return `${limit === 1 ? '1 character' : `${count(limit)} characters`}${now}`;
};
const entries = ({ limit }: Context): string => (limit === 1 ? 'one' : count(limit));

const missing = (): string => 'Fill this in.';
const date = (): string => 'Give a date and time such as 2026-11-22T08:00:00Z.';
const address = (): string => 'Give a whole address that begins with https:// or http://.';

/** Types of faults, as joi names them, in words. */
const WORDS: Record<string, (context: Context) => string> = {
  'any.required': missing,
  'string.empty': missing,
  'any.only': ({ valids }) => `Choose ${choices(valids)}.`,
  'any.unknown': () => 'This cannot be set here.',
  'string.base': () => 'Write text.',
  'string.min': (context) => (context['limit'] === 1 ? missing() : `Write at least ${length(context)}.`),
  'string.max': (context) => `Write at most ${length(context)}.`,
  'string.length': (context) => `Write exactly ${length(context)}.`,
  'string.email': () => 'Give an e-mail address such as ada@example.com.',
  'string.uri': address,
  'string.uriCustomScheme': address,
  'string.guid': () => 'Give an id as the service writes it.',
  'string.isoDate': date,
  'string.pattern.name': ({ name }) => `Use ${String(name)}.`,
  'string.pattern.invert.name': ({ name }) => `The text must be ${String(name)}.`,
  'string.pattern.base': () => 'The text does not have the form that is asked for.',
  'number.base': () => 'Give a number.',
  'number.unsafe': () => 'Give a smaller number.',
  'number.infinity': () => 'Give a number.',
  'number.integer': () => 'Give a whole number.',
  'number.positive': () => 'Give a number above zero.',
  'number.min': ({ limit }) => `Give ${count(limit)} or more.`,
  'number.max': ({ limit }) => `Give ${count(limit)} or less.`,
  'boolean.base': () => 'Choose yes or no.',
  'array.base': () => 'Choose from the list.',
  'array.min': (context) => `Choose at least ${entries(context)}.`,
  'array.max': (context) => `Give at most ${entries(context)}.`,
  'array.unique': () => 'Name each only once.',
  'array.includesRequiredUnknowns': () => 'Choose at least one.',
  'object.base': () => 'Give an object.',
};

/**
 * Joi puts this into a fault that the schema has no words of its own for: `.message(…)` and `.messages(…)` win over it.
 */
const MARK = '(words of the form)';

/** How a form is validated: every fault, each marked, and what the form has beside the schema's fields dropped. */
const FORM: ValidationOptions = {
  abortEarly: false,
  stripUnknown: true,
  errors: { label: false },
  messages: Object.fromEntries(Object.keys(WORDS).map((type) => [type, MARK])),
};

/** What a rule of the interface's own says of a time. */
const TIMESTAMP = /RFC 3339/;

/** Control → sentence; a fault inside a list is the list's, one of several controls that of the first. */
function toFieldFaults({ details }: ValidationError): Record<string, string> {
  const faults = new Map<string, string>();
  for (const { path, type, message, context = {} } of details.slice(0, MAX_FORM_ENTRIES)) {
    const { peers = ['form'] } = context as { peers?: readonly string[] };
    const name = String(path[0] ?? peers[0]);
    const words = message === MARK ? WORDS[type]?.(context) : TIMESTAMP.test(message) ? date() : undefined;
    if (!faults.has(name)) faults.set(name, words ?? formatSentence(message));
  }
  return Object.fromEntries(faults);
}

/**
 * The values of a posted form.
 * @param schema as the interface takes them; what it does not know is dropped
 * @param options of the validation, beside those of every form
 * @throws ServiceError validation_failed: `fields` has a sentence for each control that is wrong
 */
export function fromForm(schema: ObjectSchema, given: object, options: ValidationOptions = {}): unknown {
  const { value, error } = schema.validate(given, { ...FORM, ...options }) as {
    value: unknown;
    error?: ValidationError;
  };
  if (error !== undefined) throw invalid(toFieldFaults(error));
  return value;
}
