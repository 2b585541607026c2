import type { HttpRequest, RouteSpec } from '../../../ports/http/index.js';
import type { BodyReader, BodyHead, ParsedBody } from '../body/body-reader.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import { BodyValidator, validateParams, createParamsSchema, QueryValidator } from '../validation/validators.js';
import { hasBody } from '../wire/expect-continue.js';
import { Failure, NOT_FOUND } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { releaseWhileReading } from './request-body.js';
import { toBodySender } from './caller-keys.js';

export const SAFE_METHODS: ReadonlySet<HttpRequest['method']> = new Set(['GET', 'HEAD']);

export class RouteInput {
  readonly reads: boolean;
  readonly #params: ReturnType<typeof createParamsSchema>;
  readonly #query: QueryValidator;
  readonly #body: BodyValidator | null;
  readonly #options: { limits?: RouteSpec['limits']; optional: boolean; report: boolean };
  readonly #warns: boolean;
  readonly #parse: ((bytes: Buffer) => unknown) | undefined;

  constructor(
    { method, input, limits, strictQuery, plain, bare }: RouteSpec,
    private readonly bodies: BodyReader,
  ) {
    this.#params = createParamsSchema(input?.params);
    const reads = [method].flat().every((one) => SAFE_METHODS.has(one));
    // Clients of another service's API send extra fields and expect that service's responses.
    const isForeign = plain === true;
    this.#query = new QueryValidator(input?.query, strictQuery ?? !(reads || isForeign));
    this.#warns = !isForeign && (reads || bare === true);
    this.#body = input?.body ? new BodyValidator(input.body) : null;
    this.#options = { limits, optional: input?.optionalBody ?? false, report: input?.report ?? false };
    this.#parse = limits?.read;
    this.reads = this.#body !== null || limits?.payload !== undefined;
  }

  /** Invalid path parameters cannot name anything: 404. */
  checkParams(call: IncomingRequest): Failure | null {
    const params = validateParams(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    return null;
  }

  checkQuery(call: IncomingRequest): Failure | null {
    const query = this.#query.validate(call.query);
    if (query instanceof Failure) return query;
    call.query = query.value;
    if (this.#warns) call.warnings = query.unknown;
    return null;
  }

  readHead(call: IncomingRequest, place: RequestSlot): Promise<BodyHead | Failure> {
    return releaseWhileReading(place, () =>
      this.bodies.readHead(call.raw.req, this.#options, call.network, call.retainBody),
    );
  }

  /** @param forms also accepts a form with its token */
  readBody(call: IncomingRequest, place: RequestSlot, forms: boolean): Promise<ParsedBody | Failure> {
    const { req } = call.raw;
    const reading = (): Promise<ParsedBody | Failure> =>
      this.bodies.read(req, this.#options, toBodySender(call), call.retainBody, forms);
    return hasBody(req) ? releaseWhileReading(place, reading) : reading();
  }

  async checkBody(call: IncomingRequest, place: RequestSlot, known: ParsedBody | null): Promise<Failure | null> {
    const read = known ?? (await this.readBody(call, place, call.principal.kind === 'session'));
    if (read instanceof Failure) return read;
    const { value, warnings } = read;
    call.body = this.#parse !== undefined && Buffer.isBuffer(value) ? this.#parse(value) : value;
    if (this.#body === null || Buffer.isBuffer(value)) return null;
    const checked = this.#body.validate(value, read.bytes);
    if (checked instanceof Failure) return checked;
    call.body = checked.value;
    call.warnings = [...call.warnings, ...(warnings ?? []), ...checked.unknown];
    return null;
  }
}
