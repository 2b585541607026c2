/** `application/x-www-form-urlencoded` → fields; a repeated name becomes an array. */
import { Failure } from '../wire/failure.js';

const MAX_FIELDS = 2_000;

/** The fields, or 400 when there are more than any form has: splitting them costs time on the one event loop. */
export function parseForm(bytes: Buffer): Record<string, string | string[]> | Failure {
  const text = bytes.toString('utf8');
  let fields = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    if (++fields > MAX_FIELDS) return new Failure('invalid_request', `The form has more than ${MAX_FIELDS} fields.`);
  }
  const form: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === '__proto__') continue;
    const known = Object.hasOwn(form, name) ? form[name] : undefined;
    if (known === undefined) form[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else form[name] = [known, value];
  }
  return form;
}
