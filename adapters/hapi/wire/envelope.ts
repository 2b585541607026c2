/**
 * The envelope (contract 00): `{"status":"success", …}` and `{"status":"error","error":{…}}`.
 * License endpoints omit it, for errors too.
 */
import { CODES, type ErrorCode } from '../../../kernel/errors.js';
import { JsonText, SharedBytes } from '../../../ports/http/index.js';
import type { HttpResponse } from './http-response.js';
import type { Failure } from './failure.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The data's own `status` would misreport the outcome. */
export function toSuccessJson(data: object): string | SharedBytes {
  if (Object.values(data).some((value) => value instanceof JsonText || isLongList(value)))
    return serializeInParts(data);
  return JSON.stringify(Object.assign({ status: 'success' }, data, { status: 'success' }));
}

/** A string of a megabyte would be allocated in V8's old space. */
const LONG_LIST_LENGTH = 20;

const isLongList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length >= LONG_LIST_LENGTH;

const serializeElements = (list: readonly unknown[]): Buffer[] =>
  list.map((one, i) => Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(one) ?? 'null'}`));

/** Serialized members are inserted as they are; bytes may be shared with other responses. */
function serializeInParts(data: object): string | SharedBytes {
  const pieces: (string | Uint8Array)[] = ['{"status":"success"'];
  for (const [name, value] of Object.entries(data)) {
    if (name === 'status') continue;
    if (isLongList(value)) {
      pieces.push(`,${JSON.stringify(name)}:[`, ...serializeElements(value), ']');
      continue;
    }
    const json = value instanceof JsonText ? value.json : (JSON.stringify(value) as string | undefined);
    if (json !== undefined) pieces.push(`,${JSON.stringify(name)}:`, json);
  }
  pieces.push('}');
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return joinPieces(pieces);
}

function joinPieces(pieces: readonly (string | Uint8Array)[]): SharedBytes {
  const parts: Uint8Array[] = [];
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      parts.push(Buffer.from(text), piece);
      text = '';
    }
  }
  return new SharedBytes([...parts, Buffer.from(text)], 'whole');
}

/** The data may be shared, so it is copied. A signed response stays unchanged (contract 50). */
export function addWarnings(data: object, extraWarnings: readonly string[]): object {
  if (extraWarnings.length === 0 || Array.isArray(data) || 'signature' in data) return data;
  const own = 'warnings' in data && Array.isArray(data.warnings) ? (data.warnings as unknown[]) : [];
  return { ...data, warnings: [...own, ...extraWarnings] };
}

export function appendWarnings(json: string | Uint8Array | SharedBytes | null, warnings: readonly string[]): string {
  const text =
    json instanceof SharedBytes ? Buffer.concat(json.parts).toString() : Buffer.from(json ?? '{}').toString();
  return `${text.trimEnd().slice(0, -1)},"warnings":${JSON.stringify(warnings)}}`;
}

const CODE_BY_STATUS: Partial<Record<number, ErrorCode>> = {};
for (const [code, [status]] of Object.entries(CODES)) CODE_BY_STATUS[status] ??= code as ErrorCode;
CODE_BY_STATUS[503] = 'not_ready';
CODE_BY_STATUS[409] = 'conflict';

export function toErrorJson(status: number, data: object, requestId: string): string {
  const code = CODE_BY_STATUS[status] ?? (status < 500 ? 'invalid_request' : 'internal_error');
  const error = {
    code,
    message: CODES[code][1],
    ...('error' in data && typeof data.error === 'object' ? data.error : {}),
  };
  return JSON.stringify({ ...data, status: 'error', error: { ...error, request_id: requestId } });
}

/** @param bare `{status: code, message, fields?}` (contract 00, envelope) */
export function buildFailureResponse(
  failure: Failure,
  requestId: string,
  bare = false,
): HttpResponse & { body: string } {
  const { code, message } = failure;
  const { fields, extra, headers } = failure.more;
  if (!bare) {
    const body = JSON.stringify({
      status: 'error',
      error: { code, message, ...(fields && { fields }), ...extra, request_id: requestId },
    });
    return { status: failure.status, headers: { ...headers, 'content-type': JSON_TYPE }, body };
  }
  return {
    status: failure.status,
    headers: { ...headers, 'content-type': JSON_TYPE },
    body: JSON.stringify({ status: toCodeWithoutEnvelope(code), message, ...(fields && { fields }), ...extra }),
  };
}

/**
 * Returns the code without the envelope: a bad body is `invalid_request`, 422, and unreadable JSON
 * 400 (contract 00, envelope; contract 50).
 */
export const toCodeWithoutEnvelope = (code: string): string =>
  code === 'validation_failed' || code === 'invalid_json' ? 'invalid_request' : code;

export { JSON_TYPE };
