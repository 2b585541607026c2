/**
 * Preserves a submitted form across the login when its session has ended (contract 80, conduct).
 * Signed, so that other sites cannot inject content.
 */
import { timingSafeEqual } from 'node:crypto';

export interface SavedForm {
  path: string;
  fields: readonly (readonly [name: string, value: string])[];
}

/** Maximum length of the signed text; longer forms are not saved. */
export const MAX_SAVED_FORM_LENGTH = 48 * 1024;

const SECRET_NAME_PATTERN = /pass|secret|totp|^code$/i;

export const listMultiWordFields = (fields: SavedForm['fields']): { name: string; value: string }[] =>
  fields.filter(([, value]) => /\S\s+\S/.test(value)).map(([name, value]) => ({ name: toFieldLabel(name), value }));

const toFieldLabel = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll('_', ' ');

const RANDOM_LENGTH = 16;

/**
 * Creates a one-time form id bound to an account: someone else who signs in must not submit text
 * written with fewer rights.
 * @param random 16 characters of base64url
 */
export const createFormId = (random: string, account: string, sign: (text: string) => string): string =>
  random + sign(`form.${account}.${random}`);

/** Returns whether the form was created for this account. */
export function isFormForAccount({ fields }: SavedForm, account: string, sign: (text: string) => string): boolean {
  const id = fields.find(([name]) => name === 'form_id')?.[1] ?? '';
  return isEqualText(id, createFormId(id.slice(0, RANDOM_LENGTH), account, sign));
}

function isEqualText(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const addSignaturePrefix = (body: string): string => `kept.${body}`;

/**
 * Signs a form.
 * @returns null when it is too long or holds a secret
 */
export function encodeSavedForm(form: SavedForm, sign: (text: string) => string): string | null {
  if (form.fields.some(([name]) => SECRET_NAME_PATTERN.test(name))) return null;
  const body = Buffer.from(JSON.stringify([form.path, form.fields])).toString('base64url');
  const text = `${body}.${sign(addSignaturePrefix(body))}`;
  return text.length > MAX_SAVED_FORM_LENGTH ? null : text;
}

/** Verifies a form. @returns null when the signature is invalid */
export function decodeSavedForm(text: string, sign: (text: string) => string): SavedForm | null {
  if (text.length > MAX_SAVED_FORM_LENGTH) return null;
  const [body = '', mark = ''] = text.split('.', 2);
  if (!isEqualText(mark, sign(addSignaturePrefix(body)))) return null;
  const [path, fields] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [string, SavedForm['fields']];
  return { path, fields };
}
