import type { IncomingMessage } from 'node:http';
import type { StreamedInput, UploadedBody } from '../../../ports/http/index.js';
import { Failure, createTooLargeFailure } from '../wire/failure.js';
import { parseMediaType, ENCODING_NOT_ALLOWED } from './body-reader.js';
import { hasBoundary, getMaxBodyBytes, MultipartBody } from './multipart.js';
import { readPacedBody, type MinimumRate } from './paced-body.js';

const MULTIPART_MEDIA_TYPE = 'multipart/form-data';
const BOUNDARY_MISSING = new Failure('invalid_request', 'The content type must have a boundary of 1 to 70 characters.');

export class UploadRule {
  readonly #types: readonly string[];
  readonly #otherType: Failure;

  constructor(
    private readonly input: StreamedInput,
    private readonly least: MinimumRate,
  ) {
    this.#types = [...input.mediaTypes, ...(input.multipart ? [MULTIPART_MEDIA_TYPE] : [])];
    const accept = this.#types.join(', ');
    this.#otherType = new Failure('unsupported_media_type', `The content type must be one of ${accept}.`, {
      headers: { accept },
    });
  }

  open(req: IncomingMessage): UploadedBody | Failure {
    const { input, least } = this;
    const type = parseMediaType(req.headers['content-type']);
    if (!this.#types.includes(type)) return this.#otherType;
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') return ENCODING_NOT_ALLOWED;
    const parts = type === MULTIPART_MEDIA_TYPE ? input.multipart : undefined;
    const declared = req.headers['content-length'];
    const most = parts === undefined ? input.bytes : getMaxBodyBytes(input.bytes, parts);
    if (declared !== undefined && Number(declared) > most) return createTooLargeFailure(input.bytes);
    if (parts !== undefined) {
      if (!hasBoundary(req.headers['content-type'])) return BOUNDARY_MISSING;
      return new MultipartBody(req, parts, input.bytes, least);
    }
    return {
      mediaType: type,
      declaredBytes: declared === undefined ? null : Number(declared),
      content: readPacedBody(req, input.bytes, least),
      readLeadingFields: async () => ({}),
      readFields: async () => ({}),
    };
  }
}
