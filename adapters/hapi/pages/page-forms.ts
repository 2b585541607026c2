import type { Request } from '@hapi/hapi';
import type { PageSpec } from '../../../ports/http.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { CSRF_FAILED, csrfMatches } from '../access/csrf.js';
import { UploadRule } from '../body/upload-rule.js';
import type { RequestPlace } from '../limits/in-flight.js';
import { formFailure, idle } from '../routes/request-body.js';
import { senderOf, strangerOf } from '../routes/sender.js';
import { Failure, OVERLOADED } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { anonOf, type PageServices, type PageVisitor } from './visitor.js';

const OWN = ['csrf_token', 'form_id'];

interface ProvenForm {
  id: unknown;
}

export class PageForms {
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
            { mediaTypes: [], bytes: upload.bytes, multipart: { ...upload, fields: [...OWN, ...upload.fields] } },
            uploadRate,
          );
  }

  async read(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestPlace,
  ): Promise<ProvenForm | Failure> {
    if (this.#upload !== null) return this.#uploaded(this.#upload, request, call, visitor, place);
    const { bodies } = this.shared;
    const take = this.spec.files === true ? bodies.formWithFiles : bodies.form;
    const form = await idle(place, () => take(request.raw.req, senderOf(call), call.keep));
    if (form instanceof Failure) return formFailure(form);
    const { csrf_token, form_id, ...fields } = form;
    if (!this.#proven(csrf_token, visitor)) return CSRF_FAILED;
    call.body = fields;
    return { id: form_id };
  }

  /** While the file arrives, the request holds a stream slot instead of a request slot. */
  async #uploaded(
    rule: UploadRule,
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestPlace,
  ): Promise<ProvenForm | Failure> {
    const body = rule.open(request.raw.req);
    if (body instanceof Failure) return formFailure(body);
    const stream = this.shared.streams.places.enter(strangerOf(call));
    if (stream === null) return OVERLOADED;
    call.keep({ close: () => stream.leave() });
    place.leave();
    const first = async (): Promise<Record<string, string>> => {
      const { csrf_token: _token, form_id: _id, ...fields } = await body.first();
      return fields;
    };
    const fields = async (): Promise<Record<string, string>> => {
      const { csrf_token: _token, form_id: _id, ...others } = await body.fields();
      return others;
    };
    const { csrf_token, form_id } = await body.first();
    if (!this.#proven(csrf_token, visitor)) return CSRF_FAILED;
    const { mediaType, declaredBytes, content } = body;
    call.body = { mediaType, declaredBytes, content, first, fields };
    return { id: form_id };
  }

  #proven(token: unknown, { csrfCookie, cookies }: PageVisitor): boolean {
    const known = [csrfCookie, ...(this.policy.public ? [anonOf(cookies)] : [])];
    return csrfMatches(this.shared.authenticator, token, known);
  }
}
