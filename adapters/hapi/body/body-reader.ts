import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { RouteSpec } from '../../../ports/http.js';
import type { HttpLimits } from '../../../ports/http/limits.js';
import { Failure, OVERLOADED } from '../wire/failure.js';
import { BodyBudget, type BodyLease } from '../limits/body-budget.js';
import { MULTIPART_TYPE, parseForm, parseMultipart, type FormWithFiles } from './form.js';
import { isEncoded } from './decoders.js';
import { Inflater } from './inflate.js';
import { Sift } from './sift.js';
import { MAX_INTAKE_VALUES, MAX_VALUES, parseJson } from './json.js';
import { hasBody } from '../wire/expectation.js';
import { WireBody, type Pace } from './wire-body.js';

export interface ReadBody {
  value: unknown;
  bytes: number;
  warnings?: readonly string[];
}

export type BodyKind = 'json' | 'json-any-type' | 'raw';

export interface BodySender {
  key: string;
  known: boolean;
}

export type Keep = (lease: BodyLease) => void;

/** @property report the body is a machine's report: invalid text is replaced instead of rejected */
type RouteBody = Pick<RouteSpec, 'limits'> & { optional: boolean; report?: boolean };
type Form = Record<string, string | string[]>;

const EMPTY = Buffer.alloc(0);
const EMPTY_BODY = new Failure('invalid_json', 'The body is empty; it must be a JSON object.');
export const NO_ENCODING = new Failure(
  'unsupported_media_type',
  'This path takes bodies without content encoding only.',
);
const NO_FORM = new Failure('unsupported_media_type', 'Forms are sent as application/x-www-form-urlencoded.');

const HEAD_BYTES = 16 * 1024;
const ANONYMOUS_FORM_BYTES = 64 * 1024;
const FORM_MS = 10_000;
/** Limit for a filtered body, on the wire and decoded. The retained part has the usual limits. */
const SIFTED_BYTES = 100 * 1024 * 1024;
const REPLACED = ['The body was not valid UTF-8: what could not be read was replaced by U+FFFD.'];
/**
 * The budget of anonymous senders fits 16 JSON bodies of at least this size, however small the
 * limit is.
 */
const LEAST_JSON_BYTES = 1024 * 1024;
const LEAST_RATE = 1_024;

export interface BodyReaderOptions {
  limits: Pick<HttpLimits, 'json_bytes' | 'inflated_bytes'>;
  timeoutMs: number;
  mostBytes: number;
}

export class BodyReader {
  readonly #inflater = new Inflater();
  readonly #known: BodyBudget;
  readonly #anonymous: BodyBudget;

  constructor(private readonly options: BodyReaderOptions) {
    const { mostBytes, limits } = options;
    this.#known = new BodyBudget(mostBytes, mostBytes / 4);
    const anonymous = Math.min(mostBytes, 16 * Math.max(limits.json_bytes, LEAST_JSON_BYTES));
    this.#anonymous = new BodyBudget(anonymous, anonymous / 8);
  }

  /** @param forms also accepts a form: a session's request, whose token is a form field */
  async read(
    req: IncomingMessage,
    route: RouteBody,
    sender: BodySender,
    keep: Keep,
    forms = false,
  ): Promise<ReadBody | Failure> {
    const { keptBytes } = route.limits ?? {};
    if (keptBytes !== undefined) return this.#beginning(req, keptBytes, sender, keep);
    const wire = this.#open(req, route, sender, keep, forms);
    if (!(wire instanceof WireBody)) return wire;
    return this.#finish(wire, req, route, sender, forms);
  }

  /** Without a credential, no more than these first kilobytes are read. */
  async head(req: IncomingMessage, route: RouteBody, address: string, keep: Keep): Promise<HeadOfBody | Failure> {
    const sender = { key: address, known: false };
    const wire = this.#open(req, route, sender, keep, false);
    if (wire instanceof Failure) return wire;
    if (!(wire instanceof WireBody)) return { head: Buffer.alloc(0), rest: async () => wire };
    const part = await wire.head(HEAD_BYTES, this.#pace(sender));
    if (part instanceof Failure) return part;
    const head = await this.#inflater.head(part, req.headers['content-encoding'], HEAD_BYTES, address);
    if (head instanceof Failure) return head;
    return {
      head,
      rest: async (owner) => {
        if (!wire.lease.moveTo(this.#known, owner)) return OVERLOADED;
        return this.#finish(wire, req, route, { key: owner, known: true }, false);
      },
    };
  }

  /**
   * A corrupt, truncated or unsupported body counts as empty; the rest is discarded after the
   * response.
   */
  async #beginning(req: IncomingMessage, most: number, sender: BodySender, keep: Keep): Promise<ReadBody> {
    const none: ReadBody = { value: EMPTY, bytes: 0 };
    if (!hasBody(req)) return none;
    const wire = this.#wire(req, Infinity, sender, keep);
    if (wire instanceof Failure) return none;
    const part = await wire.beginning(most, this.#pace(sender));
    if (part instanceof Failure) return none;
    const head = await this.#inflater.head(part, req.headers['content-encoding'], most, sender.key);
    return head instanceof Failure ? none : { value: head, bytes: head.length };
  }

  readonly form = async (req: IncomingMessage, sender: BodySender, keep: Keep): Promise<Form | Failure> => {
    if (!hasBody(req)) return {};
    if (mediaType(req.headers['content-type']) !== FORM_TYPE) return NO_FORM;
    const bytes = await this.#formBytes(req, sender, keep);
    return bytes instanceof Failure ? bytes : parseForm(bytes);
  };

  readonly formWithFiles = async (
    req: IncomingMessage,
    sender: BodySender,
    keep: Keep,
  ): Promise<FormWithFiles | Failure> => {
    const type = req.headers['content-type'];
    if (mediaType(type) !== MULTIPART_TYPE) return this.form(req, sender, keep);
    const bytes = await this.#formBytes(req, sender, keep);
    return bytes instanceof Failure ? bytes : parseMultipart(bytes, type);
  };

  async #formBytes(req: IncomingMessage, sender: BodySender, keep: Keep): Promise<Buffer | Failure> {
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') return NO_ENCODING;
    const { json_bytes } = this.options.limits;
    const wire = this.#wire(req, sender.known ? json_bytes : Math.min(json_bytes, ANONYMOUS_FORM_BYTES), sender, keep);
    if (wire instanceof Failure) return wire;
    return wire.whole({ timeoutMs: Math.min(FORM_MS, this.options.timeoutMs), leastRate: 0 });
  }

  #open(
    req: IncomingMessage,
    { limits = {}, optional }: RouteBody,
    sender: BodySender,
    keep: Keep,
    forms: boolean,
  ): WireBody | ReadBody | Failure {
    const kind: BodyKind = limits.payload ?? 'json';
    if (!hasBody(req)) return empty(kind, optional);
    const type = mediaType(req.headers['content-type']);
    const refused = forms && type === FORM_TYPE ? null : refusesType(kind, type, req.headers['content-type']);
    if (refused) return refused;
    const encoding = req.headers['content-encoding'];
    if (!limits.inflate && encoding !== undefined && encoding !== 'identity') return NO_ENCODING;
    const most = limits.bytes ?? this.options.limits.json_bytes;
    return this.#wire(req, limits.sieve !== undefined && isLong(req, most) ? SIFTED_BYTES : most, sender, keep);
  }

  #wire(req: IncomingMessage, limit: number, { key, known }: BodySender, keep: Keep): WireBody | Failure {
    const wire = WireBody.open(req, limit, known ? this.#known : this.#anonymous, key);
    if (wire instanceof WireBody) keep(wire.lease);
    return wire;
  }

  async #finish(
    wire: WireBody,
    req: IncomingMessage,
    { limits = {}, optional, report = false }: RouteBody,
    sender: BodySender,
    forms: boolean,
  ): Promise<ReadBody | Failure> {
    const bytes = await this.#bytes(wire, req, limits, sender);
    if (bytes instanceof Failure) return bytes;
    const kind = limits.payload ?? 'json';
    if (bytes.length === 0) return empty(kind, optional);
    const isForm = forms && mediaType(req.headers['content-type']) === FORM_TYPE;
    if (kind === 'raw' && !isForm) return { value: bytes, bytes: bytes.length };
    const mends = report && !isForm && !isUtf8(bytes);
    const readable = mends ? Buffer.from(bytes.toString('utf8')) : bytes;
    const parsed = isForm ? parseForm(bytes) : parseJson(readable, limits.inflate ? MAX_INTAKE_VALUES : MAX_VALUES);
    const value = parsed instanceof Promise ? await (parsed as Promise<unknown>) : parsed;
    if (value instanceof Failure) return value;
    return { value, bytes: bytes.length, ...(mends && { warnings: REPLACED }) };
  }

  async #bytes(
    wire: WireBody,
    req: IncomingMessage,
    { sieve, bytes }: NonNullable<RouteBody['limits']>,
    sender: BodySender,
  ): Promise<Buffer | Failure> {
    const { inflated_bytes, json_bytes } = this.options.limits;
    const encoding = req.headers['content-encoding'];
    const most = bytes ?? json_bytes;
    const sift = (): Sift | null => {
      if (sieve === undefined) return null;
      const kept = isEncoded(encoding) ? inflated_bytes : most;
      return new Sift({ sieve: sieve(kept), encoding, lease: wire.lease, most: { kept, decoded: SIFTED_BYTES } });
    };
    const long = isLong(req, most) ? sift() : null;
    if (long !== null) return wire.sifted(this.#pace(sender), long);
    const sent = await wire.whole(this.#pace(sender));
    if (sent instanceof Failure || encoding === undefined) return sent;
    const whole = await this.#inflater.inflate(sent, encoding, inflated_bytes, wire.lease, sender.key);
    const again = whole instanceof Failure && whole.code === 'payload_too_large' ? sift() : null;
    return again === null ? whole : this.#inflater.sifted(sent, again, sender.key);
  }

  #pace({ known }: BodySender): Pace {
    return { timeoutMs: this.options.timeoutMs, leastRate: known ? 0 : LEAST_RATE };
  }
}

const isLong = ({ headers }: IncomingMessage, most: number): boolean => !(Number(headers['content-length']) <= most);

export interface HeadOfBody {
  head: Buffer;
  rest(owner: string): Promise<ReadBody | Failure>;
}

function empty(kind: BodyKind, optional: boolean): ReadBody | Failure {
  if (kind === 'raw') return { value: EMPTY, bytes: 0 };
  return optional ? { value: {}, bytes: 0 } : EMPTY_BODY;
}

const FORM_TYPE = 'application/x-www-form-urlencoded';

export function mediaType(header: string | undefined): string {
  if (header === undefined || header === 'application/json') return header ?? '';
  const end = header.indexOf(';');
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

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
