import type { IncomingMessage } from 'node:http';
import type { StreamedInput, UploadedBody } from '../../../ports/http.js';
import { Failure, tooLarge } from '../wire/failure.js';
import { mediaType, NO_ENCODING } from './body-reader.js';
import { hasBoundary, mostOf, MultipartBody } from './multipart.js';
import { pacedBody, type LeastRate } from './paced-body.js';

const MULTIPART = 'multipart/form-data';
const NO_BOUNDARY = new Failure('invalid_request', 'The content type names no boundary of 1 to 70 characters.');

export class UploadRule {
  readonly #types: readonly string[];
  readonly #otherType: Failure;

  constructor(
    private readonly input: StreamedInput,
    private readonly least: LeastRate,
  ) {
    this.#types = [...input.mediaTypes, ...(input.multipart ? [MULTIPART] : [])];
    const accept = this.#types.join(', ');
    this.#otherType = new Failure('unsupported_media_type', `The content type must be one of ${accept}.`, {
      headers: { accept },
    });
  }

  open(req: IncomingMessage): UploadedBody | Failure {
    const { input, least } = this;
    const type = mediaType(req.headers['content-type']);
    if (!this.#types.includes(type)) return this.#otherType;
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') return NO_ENCODING;
    const parts = type === MULTIPART ? input.multipart : undefined;
    const declared = req.headers['content-length'];
    const most = parts === undefined ? input.bytes : mostOf(input.bytes, parts);
    if (declared !== undefined && Number(declared) > most) return tooLarge(input.bytes);
    if (parts !== undefined) {
      if (!hasBoundary(req.headers['content-type'])) return NO_BOUNDARY;
      return new MultipartBody(req, parts, input.bytes, least);
    }
    return {
      mediaType: type,
      declaredBytes: declared === undefined ? null : Number(declared),
      content: pacedBody(req, input.bytes, least),
      first: async () => ({}),
      fields: async () => ({}),
    };
  }
}
