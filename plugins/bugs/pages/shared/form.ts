import type joi from 'joi';
import {
  fromForm,
  orAgain as refusedAgain,
  type HttpRequest,
  type PageResult,
  type FormRejection,
} from '../../../../kernel/contract/index.js';
import { formatSentence } from '../../../../lib/sentence.js';
import type { Json } from '../../../../ports/store/index.js';
import { cleanJson } from '../../text/clean-report.js';

export interface FormProblem extends FormRejection {
  form: string;
  typed: Record<string, string>;
}

export function getFormFields(request: HttpRequest): Record<string, string> {
  const body: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const fields = Object.entries(body).map(([name, value]): [string, unknown] => [name, [value].flat()[0]]);
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

const toFieldLabel = (field: string): string => field.charAt(0).toUpperCase() + field.slice(1).replaceAll('_', ' ');

function formatFieldError(name: string, what: string): string {
  const text = formatSentence(what, name);
  if (text === 'Required') return `${name} is required.`;
  return text.startsWith(name) ? text : `${name}: ${text}`;
}

export function getFieldValues(request: HttpRequest, name: string): string[] {
  const body: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : [];
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}

export function validateForm(schema: joi.ObjectSchema, given: object): Json {
  return cleanJson(fromForm(schema, given) as Json);
}

export const runOrShowAgain = (
  form: string,
  request: HttpRequest,
  run: () => Promise<PageResult>,
  again: (problem: FormProblem) => Promise<PageResult>,
): Promise<PageResult> =>
  refusedAgain(run, ({ message, code, errors }) => {
    const says = Object.entries(errors).map(([field, what]) => formatFieldError(toFieldLabel(field), what));
    return again({
      message: says.join(' ') || formatSentence(message),
      code,
      errors,
      form,
      typed: getFormFields(request),
    });
  });
