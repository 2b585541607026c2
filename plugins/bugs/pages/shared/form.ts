/** Forms of the pages: reading a posted form, and showing the page again with the refusal. */
import type joi from 'joi';
import {
  fromForm,
  orAgain as refusedAgain,
  type HttpRequest,
  type PageResult,
  type Problem,
} from '../../../../kernel/contract.js';
import { formatSentence } from '../../../../lib/sentence.js';
import type { Json } from '../../../../ports/store.js';
import { cleanJson } from '../../text/clean.js';

export interface FormProblem extends Problem {
  /** The form that was sent. */
  form: string;
  /** The typed texts. */
  typed: Record<string, string>;
}

/** The filled-in fields as text; the first value of a field that came several times. */
export function typedFields(request: HttpRequest): Record<string, string> {
  const body: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const fields = Object.entries(body).map(([name, value]): [string, unknown] => [name, [value].flat()[0]]);
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/** A field's name for people: `resolved_in_build` → `Resolved in build`. */
const nameOf = (field: string): string => field.charAt(0).toUpperCase() + field.slice(1).replaceAll('_', ' ');

/** The fault as a sentence: `Reason is required.`, `Status: Choose open or closed.` */
function faultOf(name: string, what: string): string {
  const text = formatSentence(what, name);
  return text.startsWith(name) ? text : `${name}: ${text}`;
}

/** Every value of a field that may come several times. */
export function fieldValues(request: HttpRequest, name: string): string[] {
  const body: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : [];
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}

/** The value, checked by a schema of the interface. @throws ServiceError validation_failed with the fields */
export function checked(schema: joi.ObjectSchema, given: object): Json {
  return cleanJson(fromForm(schema, given) as Json);
}

/** Runs `run`, or shows the page again with the refusal in one sentence and the texts typed into the form. */
export const orAgain = (
  form: string,
  request: HttpRequest,
  run: () => Promise<PageResult>,
  again: (problem: FormProblem) => Promise<PageResult>,
): Promise<PageResult> =>
  refusedAgain(run, ({ message, code, errors }) => {
    // Not every field of a change has a control in its form.
    const says = Object.entries(errors).map(([field, what]) => faultOf(nameOf(field), what));
    return again({
      message: says.join(' ') || formatSentence(message),
      code,
      errors,
      form,
      typed: typedFields(request),
    });
  });
