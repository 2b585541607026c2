/** The number of parts is checked first. */
import { ServiceError } from '../../kernel/errors.js';

const MAX_PARTS = 80;
const BOUNDARY_PATTERN = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))\s*(?:;|$)/i;

const toFormError = (): ServiceError => new ServiceError('invalid_request', 'The body is not a multipart form.');

export async function parseForm(body: Buffer, contentType: string | undefined): Promise<FormData> {
  const [, quoted, plain] = BOUNDARY_PATTERN.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined || !/^multipart\/form-data\b/i.test(contentType ?? '')) throw toFormError();
  let parts = 0;
  for (let at = body.indexOf(`--${boundary}`); at >= 0; at = body.indexOf(`--${boundary}`, at + 1)) {
    if (++parts > MAX_PARTS) throw new ServiceError('invalid_request', `The form has more than ${MAX_PARTS} parts.`);
  }
  try {
    return await new Response(body, { headers: { 'content-type': contentType ?? '' } }).formData();
  } catch {
    throw toFormError();
  }
}
