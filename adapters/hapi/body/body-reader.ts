/** A route's body: media type, bytes, inflating, parsing. What comes out still has to meet the schema. */
import type { IncomingMessage } from 'node:http';
import type { RouteSpec } from '../../../ports/http.js';
import { Failure } from '../errors/failure.js';
import { parseForm } from './form.js';
import { MAX_INTAKE_VALUES, MAX_VALUES, parseJson } from './json.js';
import type { HttpLimits } from '../options.js';
import { hasBody, inflateBody, readBody, type BodyBudget } from './payload.js';

export interface ReadBody {
  value: unknown;
  /** Size after inflating. */
  bytes: number;
}

export type BodyKind = 'json' | 'json-any-type' | 'raw';

const EMPTY_BODY = new Failure('invalid_json', 'The body is empty; it must be a JSON object.');
const NO_ENCODING = new Failure('unsupported_media_type', 'This path takes bodies without content encoding only.');

/** Reads bodies of every kind, under the limits of the service. */
export class BodyReader {
  constructor(
    private readonly limits: Pick<HttpLimits, 'json_bytes' | 'inflated_bytes'>,
    private readonly timeoutMs: number,
    private readonly budget: BodyBudget,
  ) {}

  /** @param forms a form is taken too (a session's request, whose token is a form field) */
  async read(
    req: IncomingMessage,
    route: Pick<RouteSpec, 'limits'> & { optional: boolean },
    forms = false,
  ): Promise<ReadBody | Failure> {
    const limits = route.limits ?? {};
    const kind: BodyKind = limits.payload ?? 'json';
    if (!hasBody(req)) return this.#empty(kind, route.optional);
    const type = mediaType(req.headers['content-type']);
    const isForm = forms && type === 'application/x-www-form-urlencoded';
    const refused = isForm ? null : refusesType(kind, type, req.headers['content-type']);
    if (refused) return refused;
    const encoding = req.headers['content-encoding'];
    if (!limits.inflate && encoding !== undefined && encoding !== 'identity') return NO_ENCODING;
    const options = { limit: limits.bytes ?? this.limits.json_bytes, timeoutMs: this.timeoutMs, budget: this.budget };
    const wire = await readBody(req, options);
    if (wire instanceof Failure) return wire;
    try {
      const bytes = encoding === undefined ? wire : await inflateBody(wire, encoding, this.limits.inflated_bytes);
      if (bytes instanceof Failure) return bytes;
      if (bytes.length === 0) return this.#empty(kind, route.optional);
      if (kind === 'raw' && !isForm) return { value: bytes, bytes: bytes.length };
      const parsed = isForm ? parseForm(bytes) : parseJson(bytes, limits.inflate ? MAX_INTAKE_VALUES : MAX_VALUES);
      const value = parsed instanceof Promise ? await (parsed as Promise<unknown>) : parsed;
      return value instanceof Failure ? value : { value, bytes: bytes.length };
    } finally {
      this.budget.give(wire.length);
    }
  }

  #empty(kind: BodyKind, optional: boolean): ReadBody | Failure {
    if (kind === 'raw') return { value: Buffer.alloc(0), bytes: 0 };
    return optional ? { value: {}, bytes: 0 } : EMPTY_BODY;
  }

  /** A page's form. */
  async form(req: IncomingMessage): Promise<Record<string, string | string[]> | Failure> {
    if (!hasBody(req)) return {};
    if (mediaType(req.headers['content-type']) !== 'application/x-www-form-urlencoded') {
      return new Failure('unsupported_media_type', 'Forms are sent as application/x-www-form-urlencoded.');
    }
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') return NO_ENCODING;
    const wire = await readBody(req, { limit: this.limits.json_bytes, timeoutMs: this.timeoutMs, budget: this.budget });
    if (wire instanceof Failure) return wire;
    this.budget.give(wire.length);
    return parseForm(wire);
  }
}

/** Lower case, without parameters; empty without a header. */
export function mediaType(header: string | undefined): string {
  if (header === undefined || header === 'application/json') return header ?? '';
  const end = header.indexOf(';');
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

/** JSON without a content type is taken for what it is; any other type, or a charset that JSON does not know, is 415. */
function refusesType(kind: BodyKind, type: string, header: string | undefined): Failure | null {
  if (kind !== 'json' || type === '' || header === 'application/json') return null;
  if (type !== 'application/json' && !(type.startsWith('application/') && type.endsWith('+json'))) {
    return new Failure('unsupported_media_type', 'The content type must be application/json.', {
      headers: { accept: 'application/json' },
    });
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(header ?? '')?.[1]?.toLowerCase();
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii') return null;
  return new Failure('unsupported_media_type', 'JSON is UTF-8; leave the charset out.');
}
