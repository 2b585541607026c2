/**
 * A form whose session had ended, on its way through the login (contract 80, conduct): signed text, so that nobody
 * else's page can put words into the visitor's mouth.
 */
import { timingSafeEqual } from 'node:crypto';

export interface KeptForm {
  /** Where it was sent, with the query. */
  path: string;
  /** Its controls in their order, without the form token. */
  fields: readonly (readonly [name: string, value: string])[];
}

/** Characters of the signed text; what is longer is not kept. */
export const MAX_SAVED_FORM_LENGTH = 48 * 1024;

/** What nobody would want to lie in a page: passwords and the like. */
const SECRET = /pass|secret|totp|^code$/i;

/** What a person wrote, of a form: controls with text, under names as they are spoken. */
export const listWrittenFields = (fields: KeptForm['fields']): { name: string; value: string }[] =>
  fields.filter(([, value]) => /\S\s+\S/.test(value)).map(([name, value]) => ({ name: spoken(name), value }));

const spoken = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll('_', ' ');

const RANDOM = 16;

/**
 * The one-time id of a form, which says for which account it was made: another one may sign in where a session has
 * ended, and must not send what was written with less rights.
 * @param random 16 characters of base64url
 */
export const createFormId = (random: string, account: string, sign: (text: string) => string): string =>
  random + sign(`form.${account}.${random}`);

/** Whether the form was made for this account. */
export function isFormOf({ fields }: KeptForm, account: string, sign: (text: string) => string): boolean {
  const id = fields.find(([name]) => name === 'form_id')?.[1] ?? '';
  return same(id, createFormId(id.slice(0, RANDOM), account, sign));
}

function same(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const marked = (body: string): string => `kept.${body}`;

/** @param sign a MAC of the service. @returns null where it is too long, or holds something secret */
export function encodeSavedForm(form: KeptForm, sign: (text: string) => string): string | null {
  if (form.fields.some(([name]) => SECRET.test(name))) return null;
  const body = Buffer.from(JSON.stringify([form.path, form.fields])).toString('base64url');
  const text = `${body}.${sign(marked(body))}`;
  return text.length > MAX_SAVED_FORM_LENGTH ? null : text;
}

/** @returns null where it is not ours */
export function decodeSavedForm(text: string, sign: (text: string) => string): KeptForm | null {
  if (text.length > MAX_SAVED_FORM_LENGTH) return null;
  const [body = '', mark = ''] = text.split('.', 2);
  if (!same(mark, sign(marked(body)))) return null;
  const [path, fields] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [string, KeptForm['fields']];
  return { path, fields };
}
