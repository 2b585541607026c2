import type { FormFile } from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';

export const MULTIPART_TYPE = 'multipart/form-data';
const BOUNDARY_PATTERN = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))\s*(?:;|$)/i;
const MAX_PARTS = 100;

export type FormWithFiles = Record<string, string | string[] | FormFile>;
const INVALID_MULTIPART = new Failure('invalid_request', 'The body is not a multipart form.');

const MAX_FIELDS = 2_000;

/** Too many fields are rejected with 400, because splitting them would block the event loop. */
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

/**
 * Parses `multipart/form-data` with the platform's `Response`, after bounding the number of parts.
 */
export async function parseMultipart(bytes: Buffer, type: string | undefined): Promise<FormWithFiles | Failure> {
  const [, quoted, plain] = BOUNDARY_PATTERN.exec(type ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (type === undefined || boundary === undefined) return INVALID_MULTIPART;
  let parts = 0;
  for (let at = bytes.indexOf(`--${boundary}`); at >= 0; at = bytes.indexOf(`--${boundary}`, at + 1)) {
    if (++parts > MAX_PARTS) return new Failure('invalid_request', `The form has more than ${MAX_PARTS} parts.`);
  }
  const form: FormWithFiles = {};
  try {
    const read = await new Response(bytes, { headers: { 'content-type': type } }).formData();
    for (const [name, value] of read) {
      if (name === '__proto__') continue;
      if (typeof value === 'string') form[name] = value;
      else if (value.size > 0) form[name] = { type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
    }
  } catch {
    return INVALID_MULTIPART;
  }
  return form;
}
