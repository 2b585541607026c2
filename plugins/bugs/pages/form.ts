/** What the pages share: reading a posted form, and showing the page again with what was refused. */
import type joi from 'joi';
import { orAgain as refusedAgain, type HttpRequest, type PageResult, type Problem } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import type { Json } from '../../../ports/store.js';
import { cleanJson } from '../intake/clean.js';

export interface FormProblem extends Problem {
  /** Which form was sent. */
  form: string;
  /** What was typed. */
  typed: Record<string, string>;
}

/** The filled-in fields as text; the first value of a field that came several times. */
export function typedFields(request: HttpRequest): Record<string, string> {
  const body: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const fields = Object.entries(body).map(([name, value]): [string, unknown] => [name, [value].flat()[0]]);
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/** Every value of a field that may come several times. */
export function fieldValues(request: HttpRequest, name: string): string[] {
  const body: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : [];
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}

/** What a schema of the interface takes. @throws ServiceError validation_failed with the fields */
export function checked(schema: joi.ObjectSchema, given: object): Json {
  const { value, error } = schema.validate(given, { abortEarly: false, stripUnknown: true, errors: { label: false } });
  if (error) throw invalid(Object.fromEntries(error.details.map((detail) => [detail.path.join('.'), detail.message])));
  return cleanJson(value as Json);
}

/** `run`, or the page again with the refusal in one sentence, and what was typed into which form. */
export const orAgain = (
  form: string,
  request: HttpRequest,
  run: () => Promise<PageResult>,
  again: (problem: FormProblem) => Promise<PageResult>,
): Promise<PageResult> =>
  refusedAgain(run, ({ message, code, errors }) => {
    const says = Object.entries(errors).map(([field, what]) => `${field} ${what}`);
    const sentence = (says.length > 0 ? `${message} ${says.join('; ')}.` : message).replaceAll('`', '');
    return again({ message: sentence, code, errors, form, typed: typedFields(request) });
  });
