import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { RouteSpec } from '../../../ports/http/index.js';
import type { HttpLimits } from '../../../ports/http/limits.js';
import { Failure, OVERLOADED } from '../wire/failure.js';
import { BodyBudget, type BodyReservation } from '../limits/body-budget.js';
import { MULTIPART_TYPE, parseForm, parseMultipart, type FormWithFiles } from './form.js';
import { isEncoded } from './decoders.js';
import { Inflater } from './inflate.js';
import { BodyFilterStream } from './body-filter.js';
import { MAX_INTAKE_JSON_VALUES, MAX_JSON_VALUES, parseJson } from './json.js';
import { hasBody } from '../wire/expect-continue.js';
import { WireBody, type Pace } from './wire-body.js';

export interface ParsedBody {
  value: unknown;
  bytes: number;
  warnings?: readonly string[];
}

export type BodyKind = 'json' | 'json-any-type' | 'raw';

export interface BodySender {
  key: string;
  known: boolean;
}

export type RetainReservation = (lease: BodyReservation) => void;

type RouteBodyOptions = Pick<RouteSpec, 'limits'> & { optional: boolean; report?: boolean };
type FormFields = Record<string, string | string[]>;

const EMPTY_BUFFER = Buffer.alloc(0);
const EMPTY_BODY_FAILURE = new Failure('invalid_json', 'The body is empty; it must be a JSON object.');
export const ENCODING_NOT_ALLOWED = new Failure(
  'unsupported_media_type',
  'This path does not accept a content encoding.',
);
const FORM_NOT_ALLOWED = new Failure(
  'unsupported_media_type',
  'The content type must be application/x-www-form-urlencoded.',
);

const CREDENTIAL_HEAD_BYTES = 16 * 1024;
const MAX_ANONYMOUS_FORM_BYTES = 64 * 1024;
const FORM_TIMEOUT_MS = 10_000;
/** Limit for a filtered body, on the wire and decoded. */
const MAX_FILTERED_BYTES = 100 * 1024 * 1024;
const INVALID_UTF8_WARNINGS = ['The body was not valid UTF-8: invalid bytes were replaced with U+FFFD.'];
/** The budget of anonymous senders fits 16 JSON bodies of this size. */
const MIN_JSON_LIMIT_BYTES = 1024 * 1024;
const MIN_BYTES_PER_SECOND = 1_024;

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
    const anonymous = Math.min(mostBytes, 16 * Math.max(limits.json_bytes, MIN_JSON_LIMIT_BYTES));
    this.#anonymous = new BodyBudget(anonymous, anonymous / 8);
  }

  /** @param forms also accepts a form with its token */
  async read(
    req: IncomingMessage,
    route: RouteBodyOptions,
    sender: BodySender,
    keep: RetainReservation,
    forms = false,
  ): Promise<ParsedBody | Failure> {
    const { keptBytes } = route.limits ?? {};
    if (keptBytes !== undefined) return this.#readBeginning(req, keptBytes, sender, keep);
    const wire = this.#open(req, route, sender, keep, forms);
    if (!(wire instanceof WireBody)) return wire;
    return this.#readAndParse(wire, req, route, sender, forms);
  }

  /** Without a credential, only the first kilobytes are read. */
  async readHead(
    req: IncomingMessage,
    route: RouteBodyOptions,
    address: string,
    keep: RetainReservation,
  ): Promise<BodyHead | Failure> {
    const sender = { key: address, known: false };
    const wire = this.#open(req, route, sender, keep, false);
    if (wire instanceof Failure) return wire;
    if (!(wire instanceof WireBody)) return { head: Buffer.alloc(0), readRest: async () => wire };
    const part = await wire.readHead(CREDENTIAL_HEAD_BYTES, this.#getPace(sender));
    if (part instanceof Failure) return part;
    const head = await this.#inflater.inflateHead(
      part,
      req.headers['content-encoding'],
      CREDENTIAL_HEAD_BYTES,
      address,
    );
    if (head instanceof Failure) return head;
    return {
      head,
      readRest: async (owner) => {
        if (!wire.lease.moveTo(this.#known, owner)) return OVERLOADED;
        return this.#readAndParse(wire, req, route, { key: owner, known: true }, false);
      },
    };
  }

  /** A corrupt or unsupported body counts as empty. */
  async #readBeginning(
    req: IncomingMessage,
    most: number,
    sender: BodySender,
    keep: RetainReservation,
  ): Promise<ParsedBody> {
    const none: ParsedBody = { value: EMPTY_BUFFER, bytes: 0 };
    if (!hasBody(req)) return none;
    const wire = this.#openWireBody(req, Infinity, sender, keep);
    if (wire instanceof Failure) return none;
    const part = await wire.readBeginning(most, this.#getPace(sender));
    if (part instanceof Failure) return none;
    const head = await this.#inflater.inflateHead(part, req.headers['content-encoding'], most, sender.key);
    return head instanceof Failure ? none : { value: head, bytes: head.length };
  }

  readonly readForm = async (
    req: IncomingMessage,
    sender: BodySender,
    keep: RetainReservation,
  ): Promise<FormFields | Failure> => {
    if (!hasBody(req)) return {};
    if (parseMediaType(req.headers['content-type']) !== FORM_MEDIA_TYPE) return FORM_NOT_ALLOWED;
    const bytes = await this.#readFormBytes(req, sender, keep);
    return bytes instanceof Failure ? bytes : parseForm(bytes);
  };

  readonly readFormWithFiles = async (
    req: IncomingMessage,
    sender: BodySender,
    keep: RetainReservation,
  ): Promise<FormWithFiles | Failure> => {
    const type = req.headers['content-type'];
    if (parseMediaType(type) !== MULTIPART_TYPE) return this.readForm(req, sender, keep);
    const bytes = await this.#readFormBytes(req, sender, keep);
    return bytes instanceof Failure ? bytes : parseMultipart(bytes, type);
  };

  async #readFormBytes(req: IncomingMessage, sender: BodySender, keep: RetainReservation): Promise<Buffer | Failure> {
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') return ENCODING_NOT_ALLOWED;
    const { json_bytes } = this.options.limits;
    const wire = this.#openWireBody(
      req,
      sender.known ? json_bytes : Math.min(json_bytes, MAX_ANONYMOUS_FORM_BYTES),
      sender,
      keep,
    );
    if (wire instanceof Failure) return wire;
    return wire.readWhole({ timeoutMs: Math.min(FORM_TIMEOUT_MS, this.options.timeoutMs), leastRate: 0 });
  }

  #open(
    req: IncomingMessage,
    { limits = {}, optional }: RouteBodyOptions,
    sender: BodySender,
    keep: RetainReservation,
    forms: boolean,
  ): WireBody | ParsedBody | Failure {
    const kind: BodyKind = limits.payload ?? 'json';
    if (!hasBody(req)) return createEmptyBody(kind, optional);
    const type = parseMediaType(req.headers['content-type']);
    const rejection =
      forms && type === FORM_MEDIA_TYPE ? null : checkMediaType(kind, type, req.headers['content-type']);
    if (rejection) return rejection;
    const encoding = req.headers['content-encoding'];
    if (!limits.inflate && encoding !== undefined && encoding !== 'identity') return ENCODING_NOT_ALLOWED;
    const most = limits.bytes ?? this.options.limits.json_bytes;
    return this.#openWireBody(
      req,
      limits.sieve !== undefined && mayExceedLimit(req, most) ? MAX_FILTERED_BYTES : most,
      sender,
      keep,
    );
  }

  #openWireBody(
    req: IncomingMessage,
    limit: number,
    { key, known }: BodySender,
    keep: RetainReservation,
  ): WireBody | Failure {
    const wire = WireBody.open(req, limit, known ? this.#known : this.#anonymous, key);
    if (wire instanceof WireBody) keep(wire.lease);
    return wire;
  }

  async #readAndParse(
    wire: WireBody,
    req: IncomingMessage,
    { limits = {}, optional, report = false }: RouteBodyOptions,
    sender: BodySender,
    forms: boolean,
  ): Promise<ParsedBody | Failure> {
    const bytes = await this.#readBytes(wire, req, limits, sender);
    if (bytes instanceof Failure) return bytes;
    const kind = limits.payload ?? 'json';
    if (bytes.length === 0) return createEmptyBody(kind, optional);
    const isForm = forms && parseMediaType(req.headers['content-type']) === FORM_MEDIA_TYPE;
    if (kind === 'raw' && !isForm) return { value: bytes, bytes: bytes.length };
    const needsRepair = report && !isForm && !isUtf8(bytes);
    const readable = needsRepair ? Buffer.from(bytes.toString('utf8')) : bytes;
    const parsed = isForm
      ? parseForm(bytes)
      : parseJson(readable, limits.inflate ? MAX_INTAKE_JSON_VALUES : MAX_JSON_VALUES);
    const value = parsed instanceof Promise ? await (parsed as Promise<unknown>) : parsed;
    if (value instanceof Failure) return value;
    return { value, bytes: bytes.length, ...(needsRepair && { warnings: INVALID_UTF8_WARNINGS }) };
  }

  async #readBytes(
    wire: WireBody,
    req: IncomingMessage,
    { sieve, bytes }: NonNullable<RouteBodyOptions['limits']>,
    sender: BodySender,
  ): Promise<Buffer | Failure> {
    const { inflated_bytes, json_bytes } = this.options.limits;
    const encoding = req.headers['content-encoding'];
    const most = bytes ?? json_bytes;
    const bodyFilter = (): BodyFilterStream | null => {
      if (sieve === undefined) return null;
      const maxRetainedBytes = isEncoded(encoding) ? inflated_bytes : most;
      return new BodyFilterStream({
        sieve: sieve(maxRetainedBytes),
        encoding,
        lease: wire.lease,
        most: { kept: maxRetainedBytes, decoded: MAX_FILTERED_BYTES },
      });
    };
    const long = mayExceedLimit(req, most) ? bodyFilter() : null;
    if (long !== null) return wire.readFiltered(this.#getPace(sender), long);
    const sent = await wire.readWhole(this.#getPace(sender));
    if (sent instanceof Failure || encoding === undefined) return sent;
    const whole = await this.#inflater.inflate(sent, encoding, inflated_bytes, wire.lease, sender.key);
    const again = whole instanceof Failure && whole.code === 'payload_too_large' ? bodyFilter() : null;
    return again === null ? whole : this.#inflater.inflateFiltered(sent, again, sender.key);
  }

  #getPace({ known }: BodySender): Pace {
    return { timeoutMs: this.options.timeoutMs, leastRate: known ? 0 : MIN_BYTES_PER_SECOND };
  }
}

const mayExceedLimit = ({ headers }: IncomingMessage, most: number): boolean =>
  !(Number(headers['content-length']) <= most);

export interface BodyHead {
  head: Buffer;
  readRest(owner: string): Promise<ParsedBody | Failure>;
}

function createEmptyBody(kind: BodyKind, optional: boolean): ParsedBody | Failure {
  if (kind === 'raw') return { value: EMPTY_BUFFER, bytes: 0 };
  return optional ? { value: {}, bytes: 0 } : EMPTY_BODY_FAILURE;
}

const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded';

export function parseMediaType(header: string | undefined): string {
  if (header === undefined || header === 'application/json') return header ?? '';
  const end = header.indexOf(';');
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

function checkMediaType(kind: BodyKind, type: string, header: string | undefined): Failure | null {
  if (kind !== 'json' || type === '' || header === 'application/json') return null;
  if (type !== 'application/json' && !(type.startsWith('application/') && type.endsWith('+json'))) {
    return new Failure('unsupported_media_type', 'The content type must be application/json.', {
      headers: { accept: 'application/json' },
    });
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(header ?? '')?.[1]?.toLowerCase();
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii') return null;
  return new Failure('unsupported_media_type', 'JSON must be UTF-8; omit the charset.');
}
