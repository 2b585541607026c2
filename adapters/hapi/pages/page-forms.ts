import type { Request } from '@hapi/hapi';
import type { PageSpec } from '../../../ports/http/index.js';
import type { UploadedBody } from '../../../ports/http/uploaded-body.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { CSRF_FAILED, isValidCsrfToken } from '../access/csrf.js';
import { UploadRule } from '../body/upload-rule.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import { toFormFailure, releaseWhileReading } from '../routes/request-body.js';
import { toBodySender, getAnonymousNetwork } from '../routes/caller-keys.js';
import { Failure, OVERLOADED } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { getAnonymousId, type PageServices, type PageVisitor } from './visitor.js';

const RESERVED_FIELDS = ['csrf_token', 'form_id'];

interface VerifiedForm {
  id: unknown;
}

export class PageFormReader {
  readonly #upload: UploadRule | null;

  constructor(
    private readonly spec: Pick<PageSpec, 'files' | 'upload'>,
    private readonly policy: Pick<AccessPolicy, 'public'>,
    private readonly shared: PageServices,
  ) {
    const { upload } = spec;
    const { uploadRate } = shared.streams;
    this.#upload =
      upload === undefined
        ? null
        : new UploadRule(
            {
              mediaTypes: [],
              bytes: upload.bytes,
              multipart: { ...upload, fields: [...RESERVED_FIELDS, ...upload.fields] },
            },
            uploadRate,
          );
  }

  async read(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestSlot,
  ): Promise<VerifiedForm | Failure> {
    if (this.#upload !== null) return this.#readUpload(this.#upload, request, call, visitor, place);
    const { bodies } = this.shared;
    const take = this.spec.files === true ? bodies.readFormWithFiles : bodies.readForm;
    const form = await releaseWhileReading(place, () => take(request.raw.req, toBodySender(call), call.retainBody));
    if (form instanceof Failure) return toFormFailure(form);
    const { csrf_token, form_id, ...fields } = form;
    if (!this.#isTokenValid(csrf_token, visitor)) return CSRF_FAILED;
    call.body = fields;
    return { id: form_id };
  }

  /** The request holds a stream slot instead of a request slot. */
  async #readUpload(
    rule: UploadRule,
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestSlot,
  ): Promise<VerifiedForm | Failure> {
    const body = rule.open(request.raw.req);
    if (body instanceof Failure) return toFormFailure(body);
    const stream = this.shared.streams.places.acquire(getAnonymousNetwork(call));
    if (stream === null) return OVERLOADED;
    call.retainBody({ release: () => stream.release() });
    place.release();
    const readLeadingFields = async (): Promise<Record<string, string>> => {
      const { csrf_token: _token, form_id: _id, ...fields } = await body.readLeadingFields();
      return fields;
    };
    const readFields = async (): Promise<Record<string, string>> => {
      const { csrf_token: _token, form_id: _id, ...others } = await body.readFields();
      return others;
    };
    const { csrf_token, form_id } = await body.readLeadingFields();
    if (!this.#isTokenValid(csrf_token, visitor)) return CSRF_FAILED;
    const { mediaType, declaredBytes, content } = body;
    const upload: UploadedBody = { mediaType, declaredBytes, content, readLeadingFields, readFields };
    call.body = upload;
    return { id: form_id };
  }

  #isTokenValid(token: unknown, { csrfCookie, cookies }: PageVisitor): boolean {
    const known = [csrfCookie, ...(this.policy.public ? [getAnonymousId(cookies)] : [])];
    return isValidCsrfToken(this.shared.authenticator, token, known);
  }
}
