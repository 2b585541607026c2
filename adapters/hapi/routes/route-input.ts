import type { HttpRequest, RouteSpec } from '../../../ports/http.js';
import type { BodyReader, HeadOfBody, ReadBody } from '../body/body-reader.js';
import type { RequestPlace } from '../limits/in-flight.js';
import { BodyRule, paramsFit, paramsRule, QueryRule } from '../validation/validate.js';
import { hasBody } from '../wire/expectation.js';
import { Failure, NOT_FOUND } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { idle } from './request-body.js';
import { senderOf } from './sender.js';

export const SAFE: ReadonlySet<HttpRequest['method']> = new Set(['GET', 'HEAD']);

export class RouteInput {
  readonly reads: boolean;
  readonly #params: ReturnType<typeof paramsRule>;
  readonly #query: QueryRule;
  readonly #body: BodyRule | null;
  readonly #options: { limits?: RouteSpec['limits']; optional: boolean; report: boolean };
  readonly #warns: boolean;
  readonly #parse: ((bytes: Buffer) => unknown) | undefined;

  constructor(
    { method, input, limits, strictQuery, plain, bare }: RouteSpec,
    private readonly bodies: BodyReader,
  ) {
    this.#params = paramsRule(input?.params);
    const reads = [method].flat().every((one) => SAFE.has(one));
    // Clients of another service's API send extra fields and expect that service's responses.
    const isForeign = plain === true;
    this.#query = new QueryRule(input?.query, strictQuery ?? !(reads || isForeign));
    this.#warns = !isForeign && (reads || bare === true);
    this.#body = input?.body ? new BodyRule(input.body) : null;
    this.#options = { limits, optional: input?.optionalBody ?? false, report: input?.report ?? false };
    this.#parse = limits?.read;
    this.reads = this.#body !== null || limits?.payload !== undefined;
  }

  /** Invalid path parameters cannot name anything: 404. */
  checkParams(call: IncomingRequest): Failure | null {
    const params = paramsFit(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    return null;
  }

  checkQuery(call: IncomingRequest): Failure | null {
    const query = this.#query.check(call.query);
    if (query instanceof Failure) return query;
    call.query = query.value;
    if (this.#warns) call.warnings = query.unknown;
    return null;
  }

  head(call: IncomingRequest, place: RequestPlace): Promise<HeadOfBody | Failure> {
    return idle(place, () => this.bodies.head(call.raw.req, this.#options, call.network, call.keep));
  }

  /** @param forms also accepts a form: a session's request, whose token is a field */
  read(call: IncomingRequest, place: RequestPlace, forms: boolean): Promise<ReadBody | Failure> {
    const { req } = call.raw;
    const reading = (): Promise<ReadBody | Failure> =>
      this.bodies.read(req, this.#options, senderOf(call), call.keep, forms);
    return hasBody(req) ? idle(place, reading) : reading();
  }

  async checkBody(call: IncomingRequest, place: RequestPlace, known: ReadBody | null): Promise<Failure | null> {
    const read = known ?? (await this.read(call, place, call.principal.kind === 'session'));
    if (read instanceof Failure) return read;
    const { value, warnings } = read;
    call.body = this.#parse !== undefined && Buffer.isBuffer(value) ? this.#parse(value) : value;
    if (this.#body === null || Buffer.isBuffer(value)) return null;
    const checked = this.#body.check(value, read.bytes);
    if (checked instanceof Failure) return checked;
    call.body = checked.value;
    call.warnings = [...call.warnings, ...(warnings ?? []), ...checked.unknown];
    return null;
  }
}
